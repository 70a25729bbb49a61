# SPDX-License-Identifier: Apache-2.0
"""A training step, right or with a fault, for `understudy check`, which sees eager operators where Inductor compiles them:
torch_race.py right|race. `race` reads on one stream what another writes, without an event between them."""
import sys

import torch
import understudy_torch  # noqa: F401
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 5)).to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(16, 20)
data, wanted = x.to("cuda"), x[:, :5].argmax(1).to("cuda")
side = torch.cuda.Stream()
for _ in range(2):
    loss = nn.functional.cross_entropy(model(data), wanted)
    optimizer.zero_grad()
    loss.backward()
    if sys.argv[1] != "race":
        side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        scale = model[0].weight.grad.abs().amax()
        scale.record_stream(torch.cuda.current_stream())
    if sys.argv[1] != "race":
        torch.cuda.current_stream().wait_stream(side)
    optimizer.step()
torch.cuda.synchronize()
print("scale", float(scale) > 0)
