"""What a sandbox image is judged by: one module for each requirement of section 15.2."""
