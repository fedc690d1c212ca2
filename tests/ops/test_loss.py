"""Losses against PyTorch: reductions, weights, ignored targets, labels in sequences, refusals."""

from .parity import agree, table

LOSSES = """
[F.mse_loss(x,y,reduction=r) for r in ('mean','sum','none')]
F.mse_loss(x,y,size_average=False)
F.mse_loss(x,y,weight=p)
F.huber_loss(x,y,weight=p)
F.huber_loss(x,y,delta=0)
F.smooth_l1_loss(x,y,beta=0)
F.smooth_l1_loss(x,y,beta=-1)
F.l1_loss(x,y,weight=p[0])
F.mse_loss(t,t)
F.nll_loss(x[0],t[:1])
F.nll_loss(x[0],t[:1],reduction='none')
F.cross_entropy(x[0],t[:1],reduction='none')
F.multi_margin_loss(x[0],t[:1],reduction='none')
F.multi_margin_loss(x[0],t[0],reduction='none')
F.kl_div(x,y)
F.kl_div(x,p,reduction='batchmean')
F.kl_div(t,t)
F.poisson_nll_loss(x,p,log_input=False,full=True,eps=1e-3)
F.binary_cross_entropy(x,p)
F.binary_cross_entropy(p,p[:2])
F.binary_cross_entropy_with_logits(x,p,p,pos_weight=p[0])
F.gaussian_nll_loss(x,y,p,full=True)
F.gaussian_nll_loss(x,y,p[:,:1])
F.gaussian_nll_loss(x,y,0.5)
F.gaussian_nll_loss(x,y,x)
F.gaussian_nll_loss(x,y,p[:2])
F.nll_loss(x,t,w,ignore_index=2)
F.nll_loss(x,t,w[:2])
F.nll_loss(x,t.float())
[F.cross_entropy(x,t,w,label_smoothing=0.2,ignore_index=2,reduction=r) for r in ('mean','sum','none')]
F.cross_entropy(x,t*0+2,ignore_index=2,reduction='sum')
F.cross_entropy(x,p,w,label_smoothing=0.1)
F.cross_entropy(x[0],t[0])
F.cross_entropy(x,t[:2])
F.cross_entropy(x,t,label_smoothing=2)
F.cross_entropy(x,p,ignore_index=1)
[F.multi_margin_loss(x,t,p,0.5,w,reduction=r) for p in (1,2) for r in ('mean','sum','none')]
F.multi_margin_loss(x[0],t[0])
F.multi_margin_loss(x,t,p=3)
[F.multilabel_margin_loss(x,m,reduction=r) for r in ('mean','sum','none')]
F.multilabel_margin_loss(x,m[:2])
F.multilabel_soft_margin_loss(x,p,w)
F.soft_margin_loss(x,y.sign())
F.hinge_embedding_loss(x,y,margin=0.4)
F.margin_ranking_loss(x,y,p,0.5)
F.margin_ranking_loss(x,y,p[0])
F.cosine_embedding_loss(x,y,2*(t%2)-1,0.2)
F.cosine_embedding_loss(x,y,p)
F.cosine_similarity(x,y,eps=10.0)
F.cosine_similarity(t,t,dim=0)
[F.pairwise_distance(x,y,p) for p in (0,1,2,3.5,math.inf)]
F.triplet_margin_loss(x,y,p,0.5,1,swap=True)
F.triplet_margin_loss(x,y,p,margin=0)
F.triplet_margin_with_distance_loss(x,y,p,distance_function=lambda a,b:(a-b).abs().sum(-1),swap=True)
[F.mse_loss(x,y,reduction='all'),0]
grad(lambda x: F.cross_entropy(x,t,w,label_smoothing=0.2,ignore_index=2))
grad(lambda x: F.cross_entropy(x,t*0+2,ignore_index=2))
grad(lambda x: F.nll_loss(x*x,t,w))
once(lambda x: F.multi_margin_loss(x,t,2,0.5,w)+F.multilabel_margin_loss(x,m)+F.multilabel_soft_margin_loss(x,p))
once(lambda x: F.gaussian_nll_loss(x,y,p*0+1e-9)+F.pairwise_distance(x,x.detach(),eps=0).sum())
"""


def names(module):
    make = module.tensor
    double = module.float64
    x = make([[0.2, -1.0, 2.0, 0.5], [1.5, 0.1, -0.3, 0.0], [-2.0, 0.4, 0.9, 1.1]], dtype=double)

    def grad(function):
        leaf = x.clone().requires_grad_()
        (first,) = module.autograd.grad(function(leaf), leaf, create_graph=True)
        (second,) = module.autograd.grad((first * first).sum(), leaf) if first.requires_grad else (None,)
        return first.detach(), second

    def once(function):
        leaf = x.clone().requires_grad_()
        return module.autograd.grad(function(leaf), leaf)

    return {
        "F": module.nn.functional,
        "grad": grad,
        "once": once,
        "x": x,
        "y": x.flip(0) * 0.7 + 0.1,
        "p": (x.sin() + 1.1) / 2.3,
        "w": make([0.5, 1.0, 2.0, 0.7], dtype=double),
        "t": make([1, 3, 2]),
        "m": make([[0, 2, -1, 1], [3, -1, 0, 0], [1, 0, 2, 3]]),
    }


@table(LOSSES)
def test_losses(expression):
    agree(expression, names)


SEQUENCES = """
[F.ctc_loss(q,l,(6,5,4),(3,2,1),reduction=r) for r in ('mean','sum','none')]
F.ctc_loss(q,l.reshape(-1)[:6],T.tensor([6,5,4]),T.tensor([3,2,1]))
F.ctc_loss(q,l*0+1,(6,6,2),(3,3,3),reduction='none')
grad(lambda q: F.ctc_loss(q,l*0+1,(6,6,2),(3,3,3),zero_infinity=True))
grad(lambda q: F.ctc_loss(q,l%3,(6,5,4),(2,0,1),blank=3))
F.ctc_loss(q[:,0],l[0],T.tensor(6),T.tensor(3))
F.ctc_loss(q,l,(7,5,4),(3,2,1))
F.ctc_loss(q,l,(6,5),(3,2,1))
F.ctc_loss(q,l,(6,5,4),(3,2,1),blank=9)
F.ctc_loss(q.half(),l,(6,5,4),(3,2,1))
T.ctc_loss(q,l,T.tensor([6,5,4]),T.tensor([3,2,1]),0,2,False)
"""


def sequences(module):
    scores = module.arange(72.0, dtype=module.float64).reshape(6, 3, 4).sin()
    q = scores.log_softmax(2)

    def grad(function):
        leaf = q.clone().requires_grad_()
        return module.autograd.grad(function(leaf), leaf)

    labels = module.tensor([[1, 2, 3], [2, 2, 1], [3, 1, 1]])
    return {"F": module.nn.functional, "q": q, "l": labels, "grad": grad}


@table(SEQUENCES)
def test_sequences(expression):
    agree(expression, sequences)
