"""What the hardware did, kept: the store of observations, `observe`, the recorder and the campaign runner."""
