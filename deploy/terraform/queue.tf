# Captures that wait while the store is down, and those that were refused for good.

locals {
  # Pub/Sub acts by this account where it moves a message to the dead letters and signs a delivery.
  pubsub_agent = "serviceAccount:service-${data.google_project.this.number}@gcp-sa-pubsub.iam.gserviceaccount.com"
  seven_days   = "604800s"
}

resource "google_pubsub_topic" "captures" {
  project      = var.project
  name         = "conversation-captures"
  kms_key_name = var.kms_key_name
  depends_on   = [google_project_service.api]
}

resource "google_pubsub_topic" "dead" {
  project      = var.project
  name         = "conversation-captures-dead"
  kms_key_name = var.kms_key_name
  depends_on   = [google_project_service.api]
}

resource "google_pubsub_topic_iam_member" "publisher" {
  for_each = toset(var.capture_publishers)
  project  = var.project
  topic    = google_pubsub_topic.captures.name
  role     = "roles/pubsub.publisher"
  member   = each.value
}

resource "google_pubsub_subscription" "push" {
  project                    = var.project
  name                       = "conversation-captures-push"
  topic                      = google_pubsub_topic.captures.id
  message_retention_duration = local.seven_days
  # Longer than the function may take: a delivery is not repeated while it is at work.
  ack_deadline_seconds = 60

  push_config {
    push_endpoint = google_cloudfunctions2_function.caller["events"].service_config[0].uri
    oidc_token {
      service_account_email = google_service_account.push.email
      audience              = google_cloudfunctions2_function.caller["events"].service_config[0].uri
    }
  }

  expiration_policy {
    ttl = ""
  }

  retry_policy {
    minimum_backoff = "10s"
    maximum_backoff = "600s"
  }

  dead_letter_policy {
    dead_letter_topic     = google_pubsub_topic.dead.id
    max_delivery_attempts = var.max_delivery_attempts
  }

  # Deliveries that come before these rights are refused, and each counts as an attempt.
  depends_on = [
    google_cloud_run_v2_service_iam_member.push,
    google_service_account_iam_member.push_token,
    google_pubsub_topic_iam_member.dead_publisher,
  ]
}

resource "google_pubsub_subscription" "dead" {
  project                    = var.project
  name                       = "conversation-captures-dead-keep"
  topic                      = google_pubsub_topic.dead.id
  message_retention_duration = local.seven_days
  ack_deadline_seconds       = 60

  expiration_policy {
    ttl = ""
  }
}

resource "google_service_account_iam_member" "push_token" {
  service_account_id = google_service_account.push.name
  role               = "roles/iam.serviceAccountTokenCreator"
  member             = local.pubsub_agent
  # Pub/Sub's own account is there once something of Pub/Sub's is.
  depends_on = [google_pubsub_topic.captures]
}

# Without these two, a message that is refused for good is delivered again until it expires, and then it is lost.
resource "google_pubsub_topic_iam_member" "dead_publisher" {
  project = var.project
  topic   = google_pubsub_topic.dead.name
  role    = "roles/pubsub.publisher"
  member  = local.pubsub_agent
}

resource "google_pubsub_subscription_iam_member" "dead_subscriber" {
  project      = var.project
  subscription = google_pubsub_subscription.push.name
  role         = "roles/pubsub.subscriber"
  member       = local.pubsub_agent
}
