output "capture_url" {
  description = "Where conversations are posted."
  value       = google_cloudfunctions2_function.caller["capture"].service_config[0].uri
}

output "recall_url" {
  description = "Where conversations are read."
  value       = google_cloudfunctions2_function.caller["recall"].service_config[0].uri
}

output "store_url" {
  description = "The store, for who is in the network and has a key."
  value       = google_cloudfunctions2_function.store.service_config[0].uri
}

output "capture_topic" {
  description = "Where captures are queued."
  value       = google_pubsub_topic.captures.id
}

output "dead_letters" {
  description = "The subscription that keeps captures which were refused for good."
  value       = google_pubsub_subscription.dead.id
}

output "service_accounts" {
  description = "The account of each service."
  value       = { for name, account in google_service_account.of : name => account.email }
}

output "database_host" {
  description = "The private address of the database, null where it is not ours."
  value       = one(google_sql_database_instance.memory[*].private_ip_address)
}

output "database_connections" {
  description = "Connections that the store's instances hold at most, twice that while a deploy is going on."
  value       = var.store_max_instances * local.connections_an_instance
}
