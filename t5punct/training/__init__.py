"""Fine-tuning: examples -> a trained model folder."""
