# Plans and applies the module with a provider that is mocked: `terraform test`, without an account. The source archive
# is any file.

mock_provider "google" {
  mock_data "google_project" {
    defaults = { number = "4711" }
  }
  # As the API writes them: other arguments are checked for this form.
  mock_resource "google_service_account" {
    defaults = {
      name   = "projects/my-project/serviceAccounts/mocked@my-project.iam.gserviceaccount.com"
      email  = "mocked@my-project.iam.gserviceaccount.com"
      member = "serviceAccount:mocked@my-project.iam.gserviceaccount.com"
    }
  }
}

variables {
  project    = "my-project"
  region     = "europe-west6"
  source_zip = "./README.md"
}

run "what_holds_the_secrets_can_be_made_first" {
  command = apply
  plan_options {
    target = [google_secret_manager_secret.of, google_sql_database.memory]
  }

  assert {
    condition     = length(google_secret_manager_secret.of) == 4 && one(google_sql_database.memory).instance == one(google_sql_database_instance.memory).name
    error_message = "the first step of the README leaves something out"
  }
}

run "all_of_it_with_every_default" {
  command = apply

  assert {
    condition     = google_cloud_run_v2_service_iam_member.store.member == "allUsers" && google_cloudfunctions2_function.store.service_config[0].ingress_settings == "ALLOW_INTERNAL_ONLY"
    error_message = "the store is open to the internet"
  }
  assert {
    condition     = length(google_cloud_run_v2_service_iam_member.capture) + length(google_cloud_run_v2_service_iam_member.recall) == 0
    error_message = "somebody may call who was not named"
  }
  assert {
    condition     = alltrue([for caller in google_cloudfunctions2_function.caller : caller.service_config[0].environment_variables.RUVECTOR_SERVICE_URL == google_cloudfunctions2_function.store.service_config[0].uri])
    error_message = "a caller has another store"
  }
  assert {
    condition     = google_pubsub_subscription.push.push_config[0].push_endpoint == google_cloudfunctions2_function.caller["events"].service_config[0].uri
    error_message = "the queue pushes elsewhere"
  }
  assert {
    condition     = sort([for reader in google_secret_manager_secret_iam_member.reader : "${reader.secret_id}"]) == tolist(["conversation-store-keys", "conversation-store-read-key", "conversation-store-url", "conversation-store-write-key", "conversation-store-write-key"])
    error_message = "the secrets have other readers"
  }
  assert {
    condition     = one(google_pubsub_subscription.push.dead_letter_policy).max_delivery_attempts == 100
    error_message = "a store may be down for less than the documents say"
  }
  assert {
    condition     = length(google_compute_router_nat.out) == 0 && length(google_sql_database_instance.memory) == 1
    error_message = "there is a way out that nobody asked for, or no database"
  }
  assert {
    condition     = length(google_monitoring_alert_policy.rule) == length(flatten([for group in local.alerts.groups : [for rule in group.rules : rule if can(rule.alert)]]))
    error_message = "an alert is missing"
  }
}

run "with_telemetry_metrics_and_a_database_elsewhere" {
  command = apply

  variables {
    database            = "url"
    store_max_instances = 200
    store_metrics       = true
    llm_observatory_url = "https://otlp.example"
    telemetry_budget_ms = 100
    capture_invokers    = ["group:agents@example.com"]
    settings            = { recall = { CORS_ORIGINS = "https://a.example" } }
  }
  assert {
    condition     = length(google_sql_database_instance.memory) == 0 && output.database_host == null && length(google_compute_router_nat.out) == 1
    error_message = "what the variables ask for is not there"
  }
  assert {
    condition     = google_cloudfunctions2_function.caller["recall"].service_config[0].environment_variables == tomap({ THREADS = "8", RUVECTOR_SERVICE_URL = google_cloudfunctions2_function.store.service_config[0].uri, GOOGLE_CLOUD_PROJECT = "my-project", LLM_OBSERVATORY_URL = "https://otlp.example", TELEMETRY_BUDGET_MS = "100", CORS_ORIGINS = "https://a.example" })
    error_message = "recall has other variables"
  }
  assert {
    condition     = sort([for secret in google_cloudfunctions2_function.store.service_config[0].secret_environment_variables : secret.key]) == tolist(["METRICS_KEY", "RUVECTOR_KEYS", "RUVECTOR_STORE"])
    error_message = "the store has other secrets"
  }
}

run "with_keys_and_a_limit_of_the_callers" {
  command = apply

  variables {
    capture_keys = true
    recall_keys  = true
    rate_limit   = "100/second;5000/hour"
  }
  assert {
    condition     = google_cloudfunctions2_function.caller["capture"].service_config[0].environment_variables.CAPTURE_API_KEYS_FILE == "${google_cloudfunctions2_function.caller["capture"].service_config[0].secret_volumes[0].mount_path}/${google_cloudfunctions2_function.caller["capture"].service_config[0].secret_volumes[0].versions[0].path}"
    error_message = "capture looks for its callers' keys elsewhere"
  }
  assert {
    condition     = google_cloudfunctions2_function.caller["recall"].service_config[0].environment_variables.RECALL_API_KEYS_FILE == "/etc/secrets/conversation-recall-keys/keys" && google_cloudfunctions2_function.caller["recall"].service_config[0].environment_variables.RATE_LIMIT == "100/second;5000/hour"
    error_message = "recall has other callers"
  }
  assert {
    condition     = length(google_cloudfunctions2_function.caller["events"].service_config[0].secret_volumes) == 0 && length(setintersection(keys(google_cloudfunctions2_function.caller["events"].service_config[0].environment_variables), ["CAPTURE_API_KEYS_FILE", "RATE_LIMIT"])) == 0
    error_message = "the queue would need a key, which it cannot send"
  }
  assert {
    condition     = google_secret_manager_secret_iam_member.reader["capture conversation-capture-keys"].role == "roles/secretmanager.secretAccessor" && google_secret_manager_secret_iam_member.reader["recall conversation-recall-keys"].role == "roles/secretmanager.secretAccessor"
    error_message = "nobody may read the keys"
  }
}

run "with_less_content_than_all_in_both_that_write" {
  command = apply

  variables {
    capture_content  = "none"
    content_hash_key = true
  }
  assert {
    condition     = { for name, caller in google_cloudfunctions2_function.caller : name => lookup(caller.service_config[0].environment_variables, "CAPTURE_CONTENT", "") } == { capture = "none", events = "none", recall = "" }
    error_message = "one that writes stores more than the other"
  }
  assert {
    condition     = { for name, caller in google_cloudfunctions2_function.caller : name => join(" ", sort([for each in caller.service_config[0].secret_environment_variables : "${each.key}=${each.secret}" if each.key == "CONTENT_HASH_KEY"])) } == { capture = "CONTENT_HASH_KEY=conversation-content-hash-key", events = "CONTENT_HASH_KEY=conversation-content-hash-key", recall = "" }
    error_message = "one that writes has another key"
  }
  assert {
    condition     = alltrue([for name in ["capture", "events"] : google_secret_manager_secret_iam_member.reader["${name} conversation-content-hash-key"].role == "roles/secretmanager.secretAccessor"])
    error_message = "one that writes may not read the key"
  }
}

run "a_mode_that_there_is_not_is_refused" {
  command = plan
  variables {
    capture_content = "redact"
  }
  expect_failures = [var.capture_content]
}

run "a_mode_for_one_of_them_alone_is_refused" {
  command = plan
  variables {
    settings = { events = { CAPTURE_CONTENT = "none" } }
  }
  expect_failures = [var.settings]
}

run "everybody_is_refused" {
  command = plan
  variables {
    capture_invokers   = ["allUsers"]
    recall_invokers    = ["allAuthenticatedUsers"]
    capture_publishers = ["allUsers"]
  }
  expect_failures = [var.capture_invokers, var.recall_invokers, var.capture_publishers]
}

run "everybody_is_taken_where_it_is_meant" {
  command = plan
  variables {
    capture_invokers = ["allUsers"]
    allow_public     = true
  }
  assert {
    condition     = google_cloud_run_v2_service_iam_member.capture["allUsers"].role == "roles/run.invoker"
    error_message = "nobody may call"
  }
}

run "more_instances_than_the_database_has_connections_for_are_refused" {
  command = plan
  variables {
    store_max_instances = 12
  }
  expect_failures = [var.database_max_connections]
}

run "keys_among_the_settings_are_refused" {
  command = plan
  variables {
    settings = { store = { RUVECTOR_KEYS = "acme:0123456789abcdef" } }
  }
  expect_failures = [var.settings]
}

run "more_deliveries_than_pubsub_takes_are_refused" {
  command = plan
  variables {
    max_delivery_attempts = 101
  }
  expect_failures = [var.max_delivery_attempts]
}

run "an_old_database_is_refused" {
  command = plan
  variables {
    database_version = "POSTGRES_14"
  }
  expect_failures = [var.database_version]
}
