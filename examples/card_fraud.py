"""Card fraud: the label of a payment comes days later, and the team can look at 2 % of the payments.

Run it with `python examples/card_fraud.py`. It takes a few seconds.
"""

import heapq

import lopsided as lp
from lopsided.datasets import transactions

# 20,000 payments, 1 % of them fraud, 2,000 a day. `delays` says how many payments later each label is known: a fraud
# when the card holder complains, an honest payment after three days without a complaint. Half-way through, the
# fraudsters change their manner.
stream = transactions(20_000)

# "rate:0.02" puts the threshold where 2 % of the stream is flagged. fade="auto" lets the past fade if that pays off.
model = lp.FourierRanker(fade="auto", threshold="rate:0.02", random_state=0)

waiting = []  # payments whose label is not known yet: (when it will be, which row)
scored = frauds = alerts = caught = 0

for now, (payment, delay) in enumerate(zip(stream.X, stream.delays, strict=True)):
    # 1. Learn from every label that has come in since the last payment.
    while waiting and waiting[0][0] < now:
        _, row = heapq.heappop(waiting)
        model.learn_one(stream.X[row], stream.y[row])

    # 2. Score the new payment. It is an alert if the score is above 0, which is where the threshold is.
    if hasattr(model, "classes_"):  # something has been learned
        alert = model.score_one(payment) > 0
        scored += 1
        alerts += alert
        frauds += stream.y[now]  # only for the summary below: the model does not see it
        caught += alert and stream.y[now]

    # 3. Its label will be known later.
    heapq.heappush(waiting, (now + delay, now))

print(f"payments scored  {scored:,}, {frauds} of them fraud ({frauds / scored:.1%})")
print(f"alerts           {alerts} ({alerts / scored:.1%})")
print(f"frauds caught    {caught}, {caught / alerts:.1%} of the alerts; picking at random: {frauds / scored:.1%}")
