terraform {
  # 1.9: a variable's validation may look at other variables.
  required_version = ">= 1.9"

  required_providers {
    # The arguments used here are checked against the schema of 6.50 (tests/deploy/google_provider.json).
    google = {
      source  = "hashicorp/google"
      version = "~> 6.50"
    }
  }
}

provider "google" {
  project = var.project
  region  = var.region
}
