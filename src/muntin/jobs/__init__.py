"""Jobs: a pipeline in a TOML file, read into frozen values and checked before Spark starts."""

from muntin.jobs.fields import options_of
from muntin.jobs.job import Job
from muntin.jobs.reader import JobError, read_job, report_errors
from muntin.jobs.secrets import hide

__all__ = ["Job", "JobError", "hide", "options_of", "read_job", "report_errors"]
