"""Padding, resampling, grids, pooling undone: against PyTorch."""

import pytest

import rushlight as rl

from .parity import agree, table

IMAGES = """
F.pad(x,(1,-1),'replicate')
F.pad(x,(-3,4,0,0),'replicate')
F.pad(x,(1,-1),'reflect')
F.pad(x,(1,1),'reflect',value=1)
F.pad(x[:,:0],(1,1,1,1),'reflect')
F.pad(x,(9,0),'circular')
T.constant_pad_nd(x,(1,2),1)
[F.interpolate(x,(3,7),mode=m) for m in ('nearest','nearest-exact','bilinear','bicubic','area')]
[F.interpolate(x,scale_factor=1.7,mode=m,align_corners=True) for m in ('bilinear','bicubic')]
[F.interpolate(x,s,mode=m,antialias=True) for m in ('bilinear','bicubic') for s in ((2,3),(7,9))]
[F.interpolate(x,scale_factor=0.6,mode='bicubic',antialias=True,align_corners=True)]
F.interpolate(x,3,mode='nearest',antialias=True)
F.interpolate(x[:,:0],3)
F.interpolate(x,0)
F.pixel_shuffle(x[0,0],2)
F.channel_shuffle(x[0,0],2)
[F.grid_sample(x,g,m,p,c) for m in ('bilinear','nearest','bicubic') for p in ('zeros','border','reflection') for c in (True,False)]
[F.grid_sample(x[:,:,None],h,m,p,False) for m in ('bilinear','nearest') for p in ('zeros','border','reflection')]
F.grid_sample(x[:,:,None],h,'bicubic')
F.grid_sample(x,h)
F.grid_sample(x,g,'cubic')
F.grid_sample(x,g,padding_mode='wrap')
F.grid_sample(x,g*math.nan,padding_mode='zeros',align_corners=False)
[F.affine_grid(a,(2,1,3,4),c) for c in (True,False)]
F.affine_grid(a,(2,1,1,1),False)
F.affine_grid(a,(2,1,3,4,5),False)
F.affine_grid(a,(2,1,0,4),False)
F.affine_grid(a.long(),(2,1,3,4),False)
F.max_unpool2d(*F.max_pool2d(x,2,return_indices=True),2)
F.max_unpool2d(*F.max_pool2d(x,3,2,1,return_indices=True),3,2,1,output_size=x.shape)
F.max_unpool2d(*F.max_pool2d(x,2,return_indices=True),2,output_size=(9,9))
F.max_unpool1d(*F.max_pool1d(x[0],2,return_indices=True),2)
[F.fractional_max_pool2d(x,2,output_size=(2,3),_random_samples=r,return_indices=True),0]
F.fractional_max_pool2d(x,2,output_ratio=(0.5,0.5),_random_samples=r)
F.fractional_max_pool2d(x,2)
[F.lp_pool2d(x.abs(),p,2) for p in (1,2,3)]
F.lp_pool3d(x.abs()[None],2,(1,2,2))
F.avg_pool2d((x*9).long(),(2,3),1)
F.avg_pool2d(x,2,divisor_override=0)
F.adaptive_avg_pool2d(x,(-1,2))
F.adaptive_max_pool2d(x[:,:0],2)
F.max_pool3d(T.ones(0,1,2,3),1)
F.conv_transpose2d(x,k,stride=1,padding=(1,0),output_padding=(1,2),dilation=3)
F.conv2d((x*9).long(),(k*9).long().transpose(0,1),T.tensor([1,2,3]))
F.conv1d(x[0]*1j,k[:,:,0].transpose(0,1)*(1+1j),T.tensor([1j,2,3],dtype=T.complex128))
grad(lambda x: F.grid_sample(x,g,'bicubic','border',False).sin())
grad(lambda x: F.grid_sample(x*0.3,(x[:,:2].permute(0,2,3,1)*0.7),'bilinear','reflection',True).sin())
grad(lambda x: F.max_unpool2d(*F.max_pool2d(x,2,return_indices=True),2).sin())
grad(lambda x: F.interpolate(x,(3,4),mode='bilinear',antialias=True).sin())
grad(lambda x: F.fractional_max_pool2d(x,2,output_size=(2,3),_random_samples=r).sin())
"""


def names(module):
    double = module.float64
    x = (module.arange(80.0, dtype=double) * 1.7).sin().reshape(2, 2, 4, 5)

    def grad(function):
        leaf = x.clone().requires_grad_()
        return module.autograd.grad(function(leaf).sum(), leaf)

    return {
        "F": module.nn.functional,
        "x": x,
        "k": (module.arange(36.0, dtype=double) * 0.9).cos().reshape(2, 3, 2, 3),
        "g": (module.arange(48.0, dtype=double) * 2.3).sin().reshape(2, 3, 4, 2) * 1.3,
        "h": (module.arange(72.0, dtype=double) * 2.3).sin().reshape(2, 2, 3, 2, 3) * 1.3,
        "a": (module.arange(12.0, dtype=double) * 1.1).cos().reshape(2, 2, 3),
        "r": module.tensor([[[0.1, 0.7], [0.5, 0.9]], [[0.3, 0.2], [0.6, 0.0]]], dtype=double),
        "grad": grad,
    }


@table(IMAGES)
def test_images(expression):
    agree(expression, names)


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_padding_of_an_empty_batch(mode):
    x = rl.zeros(0, 3, 3, requires_grad=True)
    made = rl.nn.functional.pad(x, (0, 1), mode)
    assert made.shape == (0, 3, 4)
    made.sum().backward()
    assert x.grad.shape == (0, 3, 3)
