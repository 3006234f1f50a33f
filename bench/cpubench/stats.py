# SPDX-License-Identifier: Apache-2.0
"""Quantiles and medians. Quantiles are R's default (type 7), so that a
figure here can be checked with quantile(x, p) there."""

SUMMARY = (("min", 0.0), ("q1", 0.25), ("median", 0.5), ("q3", 0.75),
           ("max", 1.0), ("p99", 0.99), ("p999", 0.999))


def quantile(ordered, p):
    """Type 7 quantile of a sorted, non-empty sequence."""
    place = (len(ordered) - 1) * p
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def median(values):
    return quantile(sorted(values), 0.5)


def summary(samples):
    """Min, quartiles, mean, max, p99, p99.9 of raw samples; None if none."""
    if not samples:
        return None
    ordered = sorted(samples)
    result = {name: quantile(ordered, p) for name, p in SUMMARY}
    result["mean"] = sum(ordered) / len(ordered)
    result["n"] = len(ordered)
    return result


def curve(samples):
    """[(p, value)] dense towards the tail, up to what the samples carry."""
    ordered = sorted(samples)
    points = [i / 50 for i in range(50)] + [0.99, 0.995, 0.999, 0.9995, 0.9999]
    # a quantile with less than one sample beyond it is only the maximum
    return [(p, quantile(ordered, p)) for p in points
            if (1 - p) * len(ordered) >= 1]


def spread(values):
    """Median with min and max over rounds; None when there is no round."""
    values = [v for v in values if v is not None]
    if not values:
        return None
    return {"median": median(values), "min": min(values), "max": max(values),
            "rounds": len(values)}


def ratio(value, base):
    """Ratio of two spreads' medians; None when it cannot be told."""
    if not value or not base or not base["median"]:
        return None
    return value["median"] / base["median"]


def parse_samples(data):
    """The raw file of h2load --log-file (start µs, status, duration µs).

    Returns (starts, durations of 2xx and 3xx answers, other statuses).
    """
    tokens = data.split()
    starts, codes, times = tokens[0::3], tokens[1::3], tokens[2::3]
    if len(times) < len(codes):
        # cut off in the middle of a line: an interrupted run
        starts, codes = starts[:len(times)], codes[:len(times)]
    bad = {}
    if any(code not in (b"200", b"304") for code in set(codes)):
        good = []
        for start, code, time in zip(starts, codes, times):
            if code[:1] in b"23":
                good.append((start, time))
            else:
                name = code.decode()
                bad[name] = bad.get(name, 0) + 1
        starts = [g[0] for g in good]
        times = [g[1] for g in good]
    return list(map(int, starts)), list(map(int, times)), bad
