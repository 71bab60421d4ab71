/**
 * Apollo's packages look for their switch in the process environment only, and ApolloGateway's constructor otherwise
 * starts cloud resource detectors and an hourly report to Apollo. So this one variable is written (never read) here.
 * Call it before anything of @apollo/gateway is constructed.
 */
export function disableApolloTelemetry(): void {
  // oxlint-disable-next-line node/no-process-env -- the library offers no option; configuration is still read in one place
  process.env['APOLLO_TELEMETRY_DISABLED'] = 'true';
}
