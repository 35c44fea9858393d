# The store comes first: its address is a setting of the others.
resource "google_cloudfunctions2_function" "store" {
  project     = var.project
  location    = var.region
  name        = local.services.store.name
  description = "Keeps decision events and answers for them."

  build_config {
    runtime               = "python311"
    entry_point           = local.services.store.target
    service_account       = google_service_account.build.name
    docker_repository     = google_artifact_registry_repository.images.id
    environment_variables = local.build_environment
    source {
      storage_source {
        bucket = google_storage_bucket.source.name
        object = google_storage_bucket_object.source.name
      }
    }
  }

  service_config {
    available_memory                 = local.services.store.memory
    available_cpu                    = local.services.store.cpu
    timeout_seconds                  = local.services.store.timeout
    max_instance_count               = local.services.store.max_instances
    max_instance_request_concurrency = local.services.store.threads
    service_account_email            = google_service_account.of["store"].email
    ingress_settings                 = local.services.store.ingress
    vpc_connector                    = google_vpc_access_connector.functions.id
    vpc_connector_egress_settings    = local.services.store.egress
    all_traffic_on_latest_revision   = true

    environment_variables = merge(
      { THREADS = tostring(local.services.store.threads) },
      lookup(var.settings, "store", {}),
    )

    dynamic "secret_environment_variables" {
      for_each = local.services.store.secrets
      content {
        key        = secret_environment_variables.key
        project_id = var.project
        secret     = google_secret_manager_secret.of[secret_environment_variables.value].secret_id
        version    = "latest"
      }
    }
  }

  depends_on = [
    google_secret_manager_secret_iam_member.reader,
    google_artifact_registry_repository_iam_member.build,
    google_project_iam_member.build_logs,
    google_project_iam_member.build_source,
    google_sql_database.memory,
  ]
}

resource "google_cloudfunctions2_function" "caller" {
  for_each    = local.callers
  project     = var.project
  location    = var.region
  name        = each.value.name
  description = "Conversation memory: ${each.key}."

  build_config {
    runtime               = "python311"
    entry_point           = each.value.target
    service_account       = google_service_account.build.name
    docker_repository     = google_artifact_registry_repository.images.id
    environment_variables = local.build_environment
    source {
      storage_source {
        bucket = google_storage_bucket.source.name
        object = google_storage_bucket_object.source.name
      }
    }
  }

  service_config {
    available_memory                 = each.value.memory
    available_cpu                    = each.value.cpu
    timeout_seconds                  = each.value.timeout
    max_instance_count               = each.value.max_instances
    max_instance_request_concurrency = each.value.threads
    service_account_email            = google_service_account.of[each.key].email
    ingress_settings                 = each.value.ingress
    vpc_connector                    = google_vpc_access_connector.functions.id
    vpc_connector_egress_settings    = each.value.egress
    all_traffic_on_latest_revision   = true

    environment_variables = merge(
      {
        THREADS              = tostring(each.value.threads)
        RUVECTOR_SERVICE_URL = google_cloudfunctions2_function.store.service_config[0].uri
        GOOGLE_CLOUD_PROJECT = var.project
      },
      local.telemetry,
      each.value.limits,
      each.value.content,
      { for variable, secret in each.value.key_files : variable => "${local.mounts}/${secret}/keys" },
      lookup(var.settings, each.key, {}),
    )

    dynamic "secret_environment_variables" {
      for_each = each.value.secrets
      content {
        key        = secret_environment_variables.key
        project_id = var.project
        secret     = google_secret_manager_secret.of[secret_environment_variables.value].secret_id
        version    = "latest"
      }
    }

    # A file and no variable: a new version is read without a new revision.
    dynamic "secret_volumes" {
      for_each = each.value.key_files
      content {
        mount_path = "${local.mounts}/${secret_volumes.value}"
        project_id = var.project
        secret     = google_secret_manager_secret.of[secret_volumes.value].secret_id
        versions {
          version = "latest"
          path    = "keys"
        }
      }
    }
  }

  depends_on = [google_secret_manager_secret_iam_member.reader]
}
