"""Files of tenants that are equal in length, head, middle and tail."""

SAMPLE = 64 * 1024  # what Streamlit looks at of each part of a large file
SIDE = 500_000


def tenant_file(tenant: str) -> bytes:
    """More than a megabyte, the tenant's own between the samples."""
    own = (tenant.encode() * SIDE)[:SIDE]
    return b"h" * SAMPLE + own + b"m" * 2 * SAMPLE + own + b"t" * SAMPLE
