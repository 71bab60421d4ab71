import type { GraphQLSchema } from 'graphql';

import type { GraphqlExecutor } from '../../platform/graphql/operations/executor.ts';
import type { Logger } from '../../platform/process/logger.ts';
import type { Section } from '../../rest-compat/route/route.ts';
import { sections } from '../../rest-compat/tables.ts';
import { validateRoutes } from '../../rest-compat/validate-routes.ts';

/** The REST sections of the services whose documents all fit a foreign supergraph; says of the others what does not. */
export function sectionsThatFit(schema: GraphQLSchema, logger: Logger): readonly Section[] {
  return (['media', 'workflow'] as const).flatMap((service) => {
    const own = sections.filter((section) => section.service === service);
    const problems = validateRoutes(schema, own);
    if (problems.length === 0) return own;
    logger.warn(
      { service, problems: problems.slice(0, 3), more: Math.max(0, problems.length - 3) },
      'REST is off: its documents do not fit this supergraph',
    );
    return [];
  });
}

/** The same executor, for the REST paths. */
export function forRest(executor: GraphqlExecutor): GraphqlExecutor {
  return {
    execute: (request) => executor.execute({ ...request, transport: 'rest' }),
    subscribe: (request) => executor.subscribe({ ...request, transport: 'rest' }),
  };
}
