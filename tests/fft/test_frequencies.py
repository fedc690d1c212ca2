"""Frequencies and shifts against PyTorch."""

from ops.parity import agree, table


@table("""
[T.fft.fftfreq(n,0.3) for n in (0,1,2,3,8,9)]
[T.fft.rfftfreq(n,0.3) for n in (0,1,2,3,8,9)]
T.fft.fftfreq(5,0.5,dtype=T.float64)
T.fft.fftfreq(5,requires_grad=True)
T.fft.fftfreq(5,out=T.empty(5,dtype=T.float64))
T.fft.fftfreq(-1)
T.fft.fftfreq(5.0)
T.fft.fftfreq(5,dtype=T.int64)
T.fft.fftfreq(5,dtype=T.complex64)
T.fft.fftshift(T.arange(6).reshape(2,3))
T.fft.fftshift(T.arange(6).reshape(2,3),1)
T.fft.fftshift(T.arange(6).reshape(2,3),(0,0))
T.fft.ifftshift(T.arange(15).reshape(3,5))
T.fft.ifftshift(T.arange(15).reshape(3,5),-1)
T.fft.fftshift(T.arange(6.),3)
T.fft.fftshift(T.tensor(1.))
T.fft.fftshift(T.arange(6.),())
""")
def test_agrees(expression):
    agree(expression)
