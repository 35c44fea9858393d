# The database's user and its password are made by secrets.sh: both would stand in the state.

resource "google_sql_database_instance" "memory" {
  count               = local.own_database
  project             = var.project
  region              = var.region
  name                = "conversation-memory"
  database_version    = var.database_version
  encryption_key_name = var.kms_key_name
  deletion_protection = var.database_deletion_protection

  settings {
    edition                     = "ENTERPRISE"
    tier                        = var.database_tier
    availability_type           = var.database_availability
    disk_type                   = "PD_SSD"
    disk_autoresize             = true
    deletion_protection_enabled = var.database_deletion_protection

    ip_configuration {
      ipv4_enabled    = false
      private_network = google_compute_network.this.id
      ssl_mode        = "ENCRYPTED_ONLY"
    }

    backup_configuration {
      enabled                        = true
      start_time                     = "03:00"
      point_in_time_recovery_enabled = true
      transaction_log_retention_days = 7
      backup_retention_settings {
        retained_backups = var.database_backups
      }
    }

    database_flags {
      name  = "max_connections"
      value = tostring(var.database_max_connections)
    }
  }

  depends_on = [google_service_networking_connection.database]
}

resource "google_sql_database" "memory" {
  count    = local.own_database
  project  = var.project
  instance = google_sql_database_instance.memory[0].name
  name     = "memory"
}
