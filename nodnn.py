import torch
torch.backends.mkldnn.enabled=False
