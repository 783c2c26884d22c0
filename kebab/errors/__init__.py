"""What can go wrong: one class for each error, below everything else."""
