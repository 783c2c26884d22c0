"""The program of the subprocess that downloads a model from the hub with fastembed.

It prints `started`, then `answered BYTES` when the hub has sent the sizes, and one line for an
error. The files are written to the working folder under their names in the repository.
"""

import os
import sys

os.environ |= {
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_XET": "1",  # plain HTTP, so that the growing file shows the progress
}


def main(repo: str, name: str) -> None:
    """Download a file of one revision of the repository, and the tokenizer."""
    from fastembed import TextEmbedding
    from huggingface_hub import errors, model_info

    print("started", flush=True)  # noqa: T201 - the parent reads it
    wanted = {name, "tokenizer.json"}
    try:
        info = model_info(repo, files_metadata=True, timeout=30)
        size = sum(one.size or 0 for one in info.siblings or [] if one.rfilename in wanted)
        print(f"answered {size}", flush=True)  # noqa: T201 - the parent reads it
        TextEmbedding.download_files_from_huggingface(
            repo, cache_dir=".", extra_patterns=[name], revision=info.sha, local_dir="."
        )
    # The messages of the client have several lines, and addresses that may carry a password.
    except (errors.HfHubHTTPError, errors.OfflineModeIsEnabled, ValueError) as error:
        status = getattr(getattr(error, "response", None), "status_code", None)
        reason = f"HTTP {status}" if status else type(error).__name__
        print(f"the hub failed: {reason}", flush=True)  # noqa: T201 - the parent reads it
        raise


if __name__ == "__main__":
    main(*sys.argv[1:])
