"""The lab: experiments of the papers and benchmarks; outside the wheel, run by `muntin`."""
