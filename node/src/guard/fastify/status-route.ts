/** The route that tells load balancers and orchestrators how the service is. */
import type { HealthCheck } from './health.js';
import type { Refusal } from './refusal.js';
import type { FastifyInstance, FastifyReply, FastifyRequest, StatusRouteOptions } from './types.js';

interface ResponseSchema extends Record<string, unknown> {
  properties?: Record<string, unknown>;
}

/** Adds the route. */
export function addStatusRoute(
  fastify: FastifyInstance,
  options: StatusRouteOptions,
  health: HealthCheck | null,
  refusal: Refusal,
): void {
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    if (health === null) return { status: 'ok' };
    try {
      const answer = await health.ask();
      if (answer) return Object.assign({ status: 'ok' }, answer);
      request.log.error('the health check says that the service is unhealthy');
    } catch (error) {
      request.log.error({ err: error }, 'the health check failed');
    }
    throw refusal.prepare(reply);
  };
  const { routeOpts, url = '/status', ...schema } = options;
  fastify.route({ ...routeOpts, method: 'GET', url, schema: statusSchema(schema), handler });
}

function statusSchema({ routeSchemaOpts, routeResponseSchemaOpts }: StatusRouteOptions) {
  const { response = {}, ...request } = (routeSchemaOpts ?? {}) as {
    response?: Record<string, ResponseSchema>;
  };
  const { 200: success, ...failures } = response;
  return {
    ...request,
    response: {
      200: {
        type: 'object',
        description: 'Health Check Succeeded',
        example: { status: 'ok' },
        ...success,
        properties: {
          status: { type: 'string' },
          ...routeResponseSchemaOpts,
          ...success?.properties,
        },
      },
      500: errorSchema('Error Performing Health Check', {
        message: text('Error message for failure during health check', 'Internal Server Error'),
        statusCode: statusCode(500),
      }),
      503: errorSchema('Health Check Failed', {
        code: text('Error code associated with the failing check', 'FST_UNDER_PRESSURE'),
        error: text('Error thrown during health check', 'Service Unavailable'),
        message: text('Error message to explain health check failure', 'Service Unavailable'),
        statusCode: statusCode(503),
      }),
      ...failures,
    },
  };
}

function errorSchema(description: string, properties: Record<string, object>) {
  return { type: 'object', description, properties };
}

function text(description: string, example: string) {
  return { type: 'string', description, example };
}

function statusCode(example: number) {
  const description = 'Code representing the error. Always matches the HTTP response code.';
  return { type: 'number', description, example };
}
