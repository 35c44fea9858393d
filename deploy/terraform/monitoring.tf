# deploy/monitoring says what is watched; here it becomes policies and a dashboard of Cloud Monitoring.

locals {
  alerts = yamldecode(file("${path.module}/../monitoring/alerts.yaml"))

  # Rules that only record something have no name of an alert.
  alert_rules = merge([
    for group in local.alerts.groups : {
      for rule in group.rules : rule.alert => {
        group    = group.name
        query    = rule.expr
        for      = try(rule.for, "0s")
        interval = try(group.interval, "1m")
        severity = { page = "CRITICAL", ticket = "WARNING" }[rule.labels.severity]
        text     = join("\n\n", [rule.annotations.summary, rule.annotations.description, rule.annotations.runbook])
      } if can(rule.alert)
    }
  ]...)

  seconds = { s = 1, m = 60, h = 3600, d = 86400 }
}

resource "google_monitoring_alert_policy" "rule" {
  for_each              = local.alert_rules
  project               = var.project
  display_name          = "Conversation memory: ${each.key}"
  combiner              = "OR"
  severity              = each.value.severity
  notification_channels = var.notification_channels

  conditions {
    display_name = each.key
    condition_prometheus_query_language {
      query               = each.value.query
      duration            = format("%ds", tonumber(regex("^[0-9]+", each.value.for)) * local.seconds[regex("[smhd]$", each.value.for)])
      evaluation_interval = format("%ds", tonumber(regex("^[0-9]+", each.value.interval)) * local.seconds[regex("[smhd]$", each.value.interval)])
      rule_group          = each.value.group
      alert_rule          = each.key
      # A metric is there after the first capture, the policy before it.
      disable_metric_validation = true
    }
  }

  documentation {
    content   = each.value.text
    mime_type = "text/markdown"
  }

  depends_on = [google_project_service.api]
}

resource "google_monitoring_dashboard" "this" {
  project        = var.project
  dashboard_json = file("${path.module}/../monitoring/dashboard.json")
  depends_on     = [google_project_service.api]
}
