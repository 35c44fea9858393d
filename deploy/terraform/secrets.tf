# Their values are added by secrets.sh and never pass through Terraform: a state file would keep them in clear.

resource "google_secret_manager_secret" "of" {
  for_each  = local.secret_names
  project   = var.project
  secret_id = each.value

  replication {
    user_managed {
      replicas {
        location = var.region
      }
    }
  }

  depends_on = [google_project_service.api]
}

resource "google_secret_manager_secret_iam_member" "reader" {
  for_each  = local.secret_readers
  project   = var.project
  secret_id = google_secret_manager_secret.of[each.value.secret].secret_id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.of[each.value.service].member
}
