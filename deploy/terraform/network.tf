# By this way the functions reach the store, which only callers of the network reach, and the store its database.

resource "google_compute_network" "this" {
  project                 = var.project
  name                    = "conversation-memory"
  auto_create_subnetworks = false
  depends_on              = [google_project_service.api]
}

resource "google_compute_subnetwork" "functions" {
  project       = var.project
  region        = var.region
  name          = "conversation-functions"
  network       = google_compute_network.this.id
  ip_cidr_range = var.network_range
  # Without it nothing here reaches an address of Google's, the store's among them.
  private_ip_google_access = true
}

resource "google_vpc_access_connector" "functions" {
  project       = var.project
  region        = var.region
  name          = "conversation-functions"
  machine_type  = "e2-micro"
  min_instances = 2
  max_instances = 10

  subnet {
    name = google_compute_subnetwork.functions.name
  }
}

resource "google_compute_global_address" "database" {
  count         = local.own_database
  project       = var.project
  name          = "conversation-database"
  purpose       = "VPC_PEERING"
  address_type  = "INTERNAL"
  prefix_length = 24
  network       = google_compute_network.this.id
}

resource "google_service_networking_connection" "database" {
  count                   = local.own_database
  network                 = google_compute_network.this.id
  service                 = "servicenetworking.googleapis.com"
  reserved_peering_ranges = [google_compute_global_address.database[0].name]
  depends_on              = [google_project_service.api]
}

# All that a caller sends goes through the network: telemetry for somebody outside needs a way out of it.
resource "google_compute_router" "out" {
  count   = local.needs_nat
  project = var.project
  region  = var.region
  name    = "conversation-out"
  network = google_compute_network.this.id
}

resource "google_compute_router_nat" "out" {
  count                              = local.needs_nat
  project                            = var.project
  region                             = var.region
  name                               = "conversation-out"
  router                             = google_compute_router.out[0].name
  nat_ip_allocate_option             = "AUTO_ONLY"
  source_subnetwork_ip_ranges_to_nat = "LIST_OF_SUBNETWORKS"

  subnetwork {
    name                    = google_compute_subnetwork.functions.id
    source_ip_ranges_to_nat = ["ALL_IP_RANGES"]
  }
}
