"""What the scripts share: errors in one sentence, progress bars, compilation caches."""
