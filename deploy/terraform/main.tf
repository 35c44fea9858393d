# Conversation memory on Google Cloud: what all of it stands on. The README beside this says how to use it.

data "google_project" "this" {
  project_id = var.project
}

locals {
  apis = toset([
    "artifactregistry", "cloudbuild", "cloudfunctions", "compute", "iam", "monitoring", "pubsub", "run",
    "secretmanager", "servicenetworking", "sqladmin", "storage", "vpcaccess",
  ])
}

resource "google_project_service" "api" {
  for_each           = local.apis
  project            = var.project
  service            = "${each.value}.googleapis.com"
  disable_on_destroy = false
}

resource "google_storage_bucket" "source" {
  project                     = var.project
  name                        = "${var.project}-conversation-memory-source"
  location                    = var.region
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"
  force_destroy               = true
  depends_on                  = [google_project_service.api]
}

# A name for each content: another archive is another object, and so a new build.
resource "google_storage_bucket_object" "source" {
  bucket = google_storage_bucket.source.name
  name   = "source-${filesha256(var.source_zip)}.zip"
  source = var.source_zip
}

resource "google_artifact_registry_repository" "images" {
  project       = var.project
  location      = var.region
  repository_id = "conversation-memory"
  format        = "DOCKER"
  description   = "Images that the functions are built into."
  depends_on    = [google_project_service.api]
}
