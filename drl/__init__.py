"""Train dialogue agents by letting them talk to simulated users."""
