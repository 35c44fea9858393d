# One account for each service: none has a role in the project, and none is the default account of Compute Engine.

resource "google_service_account" "of" {
  for_each     = local.services
  project      = var.project
  account_id   = each.value.account
  display_name = "Conversation memory: ${each.key}"
  depends_on   = [google_project_service.api]
}

# Whom the queue's deliveries come from.
resource "google_service_account" "push" {
  project      = var.project
  account_id   = "conversation-push"
  display_name = "Conversation memory: deliveries of the queue"
  depends_on   = [google_project_service.api]
}

resource "google_service_account" "build" {
  project      = var.project
  account_id   = "conversation-build"
  display_name = "Conversation memory: builds"
  depends_on   = [google_project_service.api]
}

resource "google_cloud_run_v2_service_iam_member" "capture" {
  for_each = toset(var.capture_invokers)
  project  = var.project
  location = var.region
  name     = google_cloudfunctions2_function.caller["capture"].name
  role     = "roles/run.invoker"
  member   = each.value
}

resource "google_cloud_run_v2_service_iam_member" "recall" {
  for_each = toset(var.recall_invokers)
  project  = var.project
  location = var.region
  name     = google_cloudfunctions2_function.caller["recall"].name
  role     = "roles/run.invoker"
  member   = each.value
}

resource "google_cloud_run_v2_service_iam_member" "push" {
  project  = var.project
  location = var.region
  name     = google_cloudfunctions2_function.caller["events"].name
  role     = "roles/run.invoker"
  member   = google_service_account.push.member
}

# Cloud Run's IAM reads the header that carries the store's own key, so it cannot guard the store: RUVECTOR_KEYS does,
# and its ingress lets in nobody from outside of the project's networks (docs/adr/0020).
resource "google_cloud_run_v2_service_iam_member" "store" {
  project  = var.project
  location = var.region
  name     = google_cloudfunctions2_function.store.name
  role     = "roles/run.invoker"
  member   = "allUsers"

  lifecycle {
    precondition {
      condition     = local.services.store.ingress == "ALLOW_INTERNAL_ONLY"
      error_message = "The store takes every caller that reaches it and has a key: only callers of the network may reach it."
    }
  }
}

# A build reads the source, which the platform copies into a bucket of its own, writes an image, and logs.
resource "google_storage_bucket_iam_member" "build" {
  bucket = google_storage_bucket.source.name
  role   = "roles/storage.objectViewer"
  member = google_service_account.build.member
}

resource "google_artifact_registry_repository_iam_member" "build" {
  project    = var.project
  location   = google_artifact_registry_repository.images.location
  repository = google_artifact_registry_repository.images.name
  role       = "roles/artifactregistry.writer"
  member     = google_service_account.build.member
}

# The platform makes that bucket at the first deploy, so the role is given in the project, on this bucket alone.
resource "google_project_iam_member" "build_source" {
  project = var.project
  role    = "roles/storage.objectViewer"
  member  = google_service_account.build.member

  condition {
    title      = "source-of-functions"
    expression = "resource.name.startsWith(\"projects/_/buckets/gcf-v2-sources-${data.google_project.this.number}-${var.region}/\")"
  }
}

# Logs have no smaller place than the project.
resource "google_project_iam_member" "build_logs" {
  project = var.project
  role    = "roles/logging.logWriter"
  member  = google_service_account.build.member
}
