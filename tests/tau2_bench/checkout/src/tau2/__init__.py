raise ImportError("the runner needs litellm")  # as the package's own, which must not be loaded
