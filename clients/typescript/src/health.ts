/** Whether a server answers. */

import {
  HealthCheckResponse_ServingStatus,
  Health as HealthService,
} from "./gen/health/v1/health_pb.js";

export { HealthService };

/** Health that a server reports of itself or of a service. */
export type Health = "unknown" | "serving" | "not_serving" | "service_unknown";

/** @internal */
export function healthName(status: HealthCheckResponse_ServingStatus): Health {
  return (HealthCheckResponse_ServingStatus[status] ?? "UNKNOWN").toLowerCase() as Health;
}
