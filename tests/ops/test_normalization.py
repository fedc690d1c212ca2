"""Normalisations and activations: arguments, running statistics, second derivatives; against PyTorch."""

from .parity import agree, table

CALLS = """
[F.batch_norm(x,m,v,w,w,True,0.3),m,v]
[F.batch_norm(x,m,v,w,w),m,v]
[F.instance_norm(x,m,v,w,w,True,0.3),m,v]
T.batch_norm(x,w,w,m,v,True,0.1,1e-5,False)
T.instance_norm(x,w,w,None,None,True,0.1,1e-5,False)
F.batch_norm(x,None,None)
F.batch_norm(x,m,v,w[:2])
F.batch_norm(x[:1,:,0],None,None,training=True)
F.batch_norm(x[:0],m,v,w,w,True)
F.instance_norm(x[:,:,:1])
F.group_norm(x,2,w,w)
F.group_norm(x,3)
F.group_norm(x[:1,:,0],4)
F.layer_norm(x,[5])
F.layer_norm(x[:,:,:0],(0,))
F.layer_norm(x[:0],(4,5))
F.rms_norm(x[:,:,:0],(0,))
twice(lambda x: F.rms_norm(x[:,:,:0],(0,)).sum() + F.layer_norm(x[:,:,:0],(0,)).sum() + x.sum())
twice(lambda x: F.group_norm(x[:,:,:0],2).sum() + x.sum())
[part.requires_grad for part in T.native_group_norm(x.clone().requires_grad_(),None,None,3,4,5,2,1e-5)]
F.group_norm(x[:,:,:0],2,w,w)
[F.batch_norm(x[:,:,:0],m,v,w,w,True),m,v]
[F.instance_norm(x[:,:,:0],m,v,use_input_stats=True),m,v]
[part.requires_grad for part in T.native_layer_norm(x.clone().requires_grad_(),(5,),None,None,1e-5)]
[part.dtype for part in T.native_layer_norm(x.bfloat16(),(5,),None,None,1e-5)]
F.layer_norm(x,(4,5))
F.layer_norm(x,(4,))
F.layer_norm(x,(5,),w)
F.rms_norm(x,(5,),eps=0.1)
F.local_response_norm(x,3,0.1,0.5,2.0)
F.normalize(x,p=1.5,dim=2)
F.normalize(x,dim=(1,2))
F.softmax(x)
F.log_softmax(x,_stacklevel=5)
F.softmin(x[0],dtype=T.float32)
F.softmax(x[:,:0],1)
F.softmax(T.ones(2,0),1)
F.softmax(T.ones(2,dtype=T.int64),0)
F.softmax(T.ones(2,dtype=T.int64),0,dtype=T.float64)
F.hardtanh(x,0.5,-0.5)
F.softshrink(x,-1)
F.relu(T.ones(2,dtype=T.bool))
F.relu(T.tensor([-1,2]))
F.relu6(T.tensor([-1,9]))
F.gelu(T.tensor([1]))
F.elu(T.tensor([1]))
F.threshold(T.tensor([1,5]),2,7)
F.prelu(x,w[:2])
F.prelu(x,w.float())
F.glu(T.tensor(1.0))
(lambda x: [F.relu(x,inplace=True),x])(x.clone())
(lambda x: [F.leaky_relu(x,0.3,True),x])(x.clone())
twice(lambda x: F.batch_norm(x,None,None,w,w,True))
twice(lambda x: F.group_norm(x,2,w,w))
twice(lambda x: F.instance_norm(x))
twice(lambda x: F.layer_norm(x,(4,5)))
twice(lambda x: F.rms_norm(x,(5,)))
twice(lambda x: F.normalize(x,p=3.0))
twice(lambda x: F.scaled_dot_product_attention(x,x,x,is_causal=True))
twice(lambda x: F.gelu(x)+F.mish(x)+F.silu(x)+F.softplus(x,2,1)+F.celu(x,2.0)+F.glu(T.cat([x,x.sin()])).sum())
"""


def names(module):
    double = module.float64
    x = (module.arange(60.0, dtype=double) * 1.7).sin().reshape(3, 4, 5)

    def twice(function):
        leaf = x.clone().requires_grad_()
        (first,) = module.autograd.grad(function(leaf).sin().sum(), leaf, create_graph=True)
        return first, module.autograd.grad(first.sin().sum(), leaf)

    return {
        "F": module.nn.functional,
        "x": x,
        "w": module.tensor([0.5, 1.0, 2.0, 0.7], dtype=double),
        "m": module.tensor([0.1, 0.2, 0.3, 0.4], dtype=double),
        "v": module.tensor([1.1, 0.9, 0.8, 1.5], dtype=double),
        "twice": twice,
    }


@table(CALLS)
def test_calls(expression):
    agree(expression, names)
