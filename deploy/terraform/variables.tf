variable "project" {
  description = "Id of the project that everything is made in."
  type        = string
}

variable "region" {
  description = "Region of the functions, the database and the source."
  type        = string
}

variable "source_zip" {
  description = "The archive that all functions are built from, as deploy/source_zip.sh makes it."
  type        = string
}

variable "allow_public" {
  description = "Whether capture_invokers, recall_invokers and capture_publishers may hold allUsers or allAuthenticatedUsers."
  type        = bool
  default     = false
}

variable "capture_invokers" {
  description = "IAM members that may call the capture function over HTTP, such as serviceAccount:chat@PROJECT.iam.gserviceaccount.com."
  type        = list(string)
  default     = []

  validation {
    condition     = var.allow_public || length(setintersection(var.capture_invokers, ["allUsers", "allAuthenticatedUsers"])) == 0
    error_message = "capture_invokers opens the capture function to everybody: set allow_public = true if that is meant."
  }
}

variable "recall_invokers" {
  description = "IAM members that may call the recall function."
  type        = list(string)
  default     = []

  validation {
    condition     = var.allow_public || length(setintersection(var.recall_invokers, ["allUsers", "allAuthenticatedUsers"])) == 0
    error_message = "recall_invokers opens what was said to everybody: set allow_public = true if that is meant."
  }
}

variable "capture_publishers" {
  description = "IAM members that may publish captures to the queue."
  type        = list(string)
  default     = []

  validation {
    condition     = var.allow_public || length(setintersection(var.capture_publishers, ["allUsers", "allAuthenticatedUsers"])) == 0
    error_message = "capture_publishers opens the queue to everybody: set allow_public = true if that is meant."
  }
}

variable "capture_max_instances" {
  description = "Instances of the capture function at most."
  type        = number
  default     = 100
}

variable "events_max_instances" {
  description = "Instances of the function behind the queue at most."
  type        = number
  default     = 100
}

variable "recall_max_instances" {
  description = "Instances of the recall function at most."
  type        = number
  default     = 20
}

variable "store_max_instances" {
  description = "Instances of the store at most. Each holds up to 16 connections to the database."
  type        = number
  default     = 10
}

variable "settings" {
  description = "More environment variables for capture, events, recall or store, as the README lists them. No keys: those are secrets."
  type        = map(map(string))
  default     = {}

  validation {
    condition     = length(setsubtract(keys(var.settings), ["capture", "events", "recall", "store"])) == 0
    error_message = "settings has entries for capture, events, recall and store only."
  }
  validation {
    condition     = alltrue([for names in values(var.settings) : alltrue([for name in keys(names) : !can(regex("KEY|^RUVECTOR_STORE$", name))])])
    error_message = "settings are readable in the console and in the state: keys and the database's address are secrets."
  }
  validation {
    condition     = alltrue([for names in values(var.settings) : length(setintersection(keys(names), ["THREADS", "RUVECTOR_SERVICE_URL"])) == 0])
    error_message = "THREADS and RUVECTOR_SERVICE_URL belong to what else is made here."
  }
  validation {
    condition     = alltrue([for names in values(var.settings) : !contains(keys(names), "CAPTURE_CONTENT")])
    error_message = "capture_content sets CAPTURE_CONTENT, for all that write."
  }
}

variable "llm_observatory_url" {
  description = "OTLP/HTTP address for spans and metrics, null for none. An address outside of the network adds a Cloud NAT."
  type        = string
  default     = null
}

variable "telemetry_budget_ms" {
  description = "Milliseconds for which an export of telemetry may hold up a request, null for the code's own bound."
  type        = number
  default     = null
}

variable "capture_keys" {
  description = "Whether callers of the capture function need a key of the secret conversation-capture-keys too, beside what IAM asks for."
  type        = bool
  default     = false
}

variable "recall_keys" {
  description = "Whether callers of the recall function need a key of the secret conversation-recall-keys too, beside what IAM asks for."
  type        = bool
  default     = false
}

variable "rate_limit" {
  description = "RATE_LIMIT of the capture and the recall function, such as 100/second;5000/hour: what one instance takes of one key. null for no limit."
  type        = string
  default     = null
}

variable "capture_content" {
  description = "CAPTURE_CONTENT of both functions that write: full, redacted or none. null for the code's own, full."
  type        = string
  default     = null

  validation {
    condition     = var.capture_content == null ? true : contains(["full", "redacted", "none"], var.capture_content)
    error_message = "capture_content is full, redacted or none."
  }
}

variable "content_hash_key" {
  description = "Whether both functions that write read CONTENT_HASH_KEY, of the secret conversation-content-hash-key."
  type        = bool
  default     = false
}

variable "store_metrics" {
  description = "Whether the store's /metrics is opened by a key of its own, the secret conversation-store-metrics-key."
  type        = bool
  default     = false
}

variable "database" {
  description = "cloud-sql: a PostgreSQL of its own, with a private address. url: the one that the secret conversation-store-url names."
  type        = string
  default     = "cloud-sql"

  validation {
    condition     = contains(["cloud-sql", "url"], var.database)
    error_message = "database is cloud-sql or url."
  }
}

variable "database_version" {
  description = "PostgreSQL 15 or newer, as Cloud SQL names it."
  type        = string
  default     = "POSTGRES_17"

  validation {
    condition     = can(regex("^POSTGRES_(1[5-9]|[2-9][0-9])$", var.database_version))
    error_message = "The store needs PostgreSQL 15 or newer."
  }
}

variable "database_tier" {
  description = "Machine of the database."
  type        = string
  default     = "db-custom-2-7680"
}

variable "database_availability" {
  description = "REGIONAL: a standby in another zone. ZONAL: none."
  type        = string
  default     = "REGIONAL"

  validation {
    condition     = contains(["REGIONAL", "ZONAL"], var.database_availability)
    error_message = "database_availability is REGIONAL or ZONAL."
  }
}

variable "database_max_connections" {
  description = "The database's max_connections. Twice the store's connections must fit: while a deploy is going on, old and new instances hold theirs."
  type        = number
  default     = 400

  validation {
    condition     = var.database == "url" || 2 * var.store_max_instances * local.connections_an_instance + local.connections_kept_free <= var.database_max_connections
    error_message = "The store's instances need ${2 * var.store_max_instances * local.connections_an_instance + local.connections_kept_free} connections: lower store_max_instances, or raise database_max_connections with database_tier."
  }
}

variable "database_deletion_protection" {
  description = "Whether Terraform and the API refuse to delete the database."
  type        = bool
  default     = true
}

variable "database_backups" {
  description = "Daily backups that are kept."
  type        = number
  default     = 14
}

variable "network_range" {
  description = "A free /28 for what joins the functions to the network."
  type        = string
  default     = "10.8.0.0/28"

  validation {
    condition     = can(cidrhost(var.network_range, 0)) && endswith(var.network_range, "/28")
    error_message = "network_range is an IPv4 range of 16 addresses, such as 10.8.0.0/28."
  }
}

variable "max_delivery_attempts" {
  description = "Deliveries of a queued capture before it goes to the dead letters, 5 to 100. docs/operate/queue.md says how long they take."
  type        = number
  default     = 100

  validation {
    condition     = var.max_delivery_attempts >= 5 && var.max_delivery_attempts <= 100 && floor(var.max_delivery_attempts) == var.max_delivery_attempts
    error_message = "Pub/Sub takes 5 to 100 attempts."
  }
}

variable "notification_channels" {
  description = "Names of the Cloud Monitoring channels that alerts go to."
  type        = list(string)
  default     = []
}

variable "kms_key_name" {
  description = "A Cloud KMS key of your own for the database and the queue, null for Google's. Their service agents need roles/cloudkms.cryptoKeyEncrypterDecrypter on it."
  type        = string
  default     = null
}
