# What is made, without a look at anything that is there: the tests evaluate this file and variables.tf alone.
locals {
  services = {
    capture = {
      name          = "conversation-memory"
      target        = "handler"
      account       = "conversation-capture"
      memory        = "256Mi"
      cpu           = "1"
      threads       = 8
      timeout       = 30
      max_instances = var.capture_max_instances
      ingress       = "ALLOW_ALL"
      egress        = "ALL_TRAFFIC"
      secrets = merge(
        { RUVECTOR_API_KEY = "conversation-store-write-key" },
        var.content_hash_key ? { CONTENT_HASH_KEY = "conversation-content-hash-key" } : {},
      )
      key_files = var.capture_keys ? { CAPTURE_API_KEYS_FILE = "conversation-capture-keys" } : {}
      limits    = local.limits
      content   = local.content
    }
    events = {
      name          = "conversation-memory-events"
      target        = "capture_event"
      account       = "conversation-events"
      memory        = "256Mi"
      cpu           = "1"
      threads       = 8
      timeout       = 30
      max_instances = var.events_max_instances
      # Pub/Sub of the same project counts as internal.
      ingress = "ALLOW_INTERNAL_ONLY"
      egress  = "ALL_TRAFFIC"
      secrets = merge(
        { RUVECTOR_API_KEY = "conversation-store-write-key" },
        var.content_hash_key ? { CONTENT_HASH_KEY = "conversation-content-hash-key" } : {},
      )
      # No queue sends a key: the function does not start with one.
      key_files = {}
      limits    = {}
      content   = local.content
    }
    recall = {
      name          = "conversation-recall"
      target        = "recall"
      account       = "conversation-recall"
      memory        = "512Mi"
      cpu           = "1"
      threads       = 8
      timeout       = 30
      max_instances = var.recall_max_instances
      ingress       = "ALLOW_ALL"
      egress        = "ALL_TRAFFIC"
      secrets       = { RUVECTOR_API_KEY = "conversation-store-read-key" }
      key_files     = var.recall_keys ? { RECALL_API_KEYS_FILE = "conversation-recall-keys" } : {}
      limits        = local.limits
      content       = {}
    }
    store = {
      name          = "conversation-store"
      target        = "store"
      account       = "conversation-store"
      memory        = "512Mi"
      cpu           = "1"
      threads       = 16
      timeout       = 30
      max_instances = var.store_max_instances
      ingress       = "ALLOW_INTERNAL_ONLY"
      egress        = "PRIVATE_RANGES_ONLY"
      secrets = merge(
        { RUVECTOR_STORE = "conversation-store-url", RUVECTOR_KEYS = "conversation-store-keys" },
        var.store_metrics ? { METRICS_KEY = "conversation-store-metrics-key" } : {},
      )
      key_files = {}
      limits    = {}
      content   = {}
    }
  }

  # The builder dates every file 1980. Bytecode that is checked by the date would be made again at each cold start; with
  # this it is checked by the source's hash (PEP 552).
  build_environment = { SOURCE_DATE_EPOCH = "315532801" }

  # Those that write to the store or read from it.
  callers = { for name, service in local.services : name => service if name != "store" }

  telemetry = merge(
    var.llm_observatory_url == null ? {} : { LLM_OBSERVATORY_URL = var.llm_observatory_url },
    var.telemetry_budget_ms == null ? {} : { TELEMETRY_BUDGET_MS = tostring(var.telemetry_budget_ms) },
  )

  # Of who calls over HTTP: each instance takes so many requests of a key.
  limits = var.rate_limit == null ? {} : { RATE_LIMIT = var.rate_limit }

  # Of both that write: of one conversation some turns come over HTTP, and some from the queue.
  content = var.capture_content == null ? {} : { CAPTURE_CONTENT = var.capture_content }

  # Where a secret that is a file is mounted; the platform gives its newest version to whoever reads it again.
  mounts = "/etc/secrets"

  secret_names = toset(flatten([for service in local.services : concat(values(service.secrets), values(service.key_files))]))

  # One entry for each secret that an account reads.
  secret_readers = merge([
    for name, service in local.services : {
      for secret in concat(values(service.secrets), values(service.key_files)) :
      "${name} ${secret}" => { service = name, secret = secret }
    }
  ]...)

  # The pool of one instance: store/engines/postgres.py.
  connections_an_instance = 16
  # For the superuser's reserve, Cloud SQL's own agents, and somebody with psql.
  connections_kept_free = 20

  own_database = var.database == "cloud-sql" ? 1 : 0
  needs_nat    = var.llm_observatory_url == null ? 0 : 1
}
