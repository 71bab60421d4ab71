/** A part of the code whose changes are counted together. */
interface Area {
  readonly folders: readonly string[];
  /** Folders below them that are areas of their own. */
  readonly without?: readonly string[];
  /** Tests that know it well from farther away: asked after the nearest. */
  readonly tests?: readonly string[];
  /** Most of the nearest test files that are asked about one change (default 5). */
  readonly nearest?: number;
}

/** The areas by the names they are asked for with. */
export const AREAS: Readonly<Record<string, Area>> = {
  executor: {
    folders: ['gateway/federation'],
    tests: [
      'gateway/federation/federation.test.ts',
      'gateway/federation/deferred/deferred.test.ts',
      'gateway/federation/passed-on.test.ts',
      'gateway/federation/operation/own-names.test.ts',
      'tools/executor-differential/executor.test.ts',
    ],
  },
  tasks: {
    folders: ['subgraphs/media/tasks'],
    tests: [
      'subgraphs/media/tasks/rules/service.test.ts',
      'subgraphs/media/tasks/work/worker.test.ts',
      'subgraphs/media/tasks/work/placed-attempts.test.ts',
      'subgraphs/media/tasks/work/start/two-deliveries.test.ts',
      'subgraphs/media/tasks/work/start/slots.test.ts',
      'subgraphs/media/tasks/work/progress/poller.test.ts',
      'subgraphs/media/tasks/work/progress/watchers.test.ts',
      'subgraphs/media/tasks/work/changed-lists.test.ts',
      'subgraphs/media/tasks/work/kinds.test.ts',
      'subgraphs/media/tasks/work/people.test.ts',
      'subgraphs/media/tasks/work/long-ago.test.ts',
      'subgraphs/media/tasks/events/events.test.ts',
      'subgraphs/media/budgets/budgets.test.ts',
      'subgraphs/media/chat/accounts.test.ts',
      'subgraphs/media/chat/history/history.test.ts',
      'subgraphs/media/generators/breakers/breakers.test.ts',
      'tools/model/model.test.ts',
    ],
  },
  'other-gateway': {
    folders: ['gateway'],
    without: ['gateway/federation'],
    tests: [
      'gateway/server/server.test.ts',
      'gateway/server/rates.test.ts',
      'gateway/server/connections.test.ts',
      'test/topology/gateway-rights.test.ts',
    ],
  },
  'rest-compat': {
    folders: ['rest-compat'],
    tests: [
      'rest-compat/router.test.ts',
      'test/documented-operations.test.ts',
      'test/rest/operations.test.ts',
      'test/rest/workflow/tasks.test.ts',
      'test/rest/workflow/templates.test.ts',
      'test/rest/workflow/payments.test.ts',
      'test/rest/media/synchronous.test.ts',
    ],
  },
  providers: {
    folders: ['subgraphs/media/providers'],
    tests: ['test/providers/contract/contract.test.ts', 'test/providers/contract/provider-webhooks.test.ts'],
  },
  'sign-in': {
    folders: ['subgraphs/workflow/sign-in'],
    tests: [
      'subgraphs/workflow/sign-in/platforms/platforms.test.ts',
      'test/rest/sign-in/sign-in.test.ts',
      'test/rest/sign-in/sign-in-apps.test.ts',
    ],
  },
  payments: {
    folders: ['subgraphs/workflow/payments'],
    tests: [
      'test/payments/payments.test.ts',
      'test/payments/automatic-refunds.test.ts',
      'test/payments/conformance.test.ts',
      'test/rest/workflow/purchase.test.ts',
    ],
  },
  budgets: {
    folders: ['subgraphs/media/budgets', 'subgraphs/media/usage', 'subgraphs/media/generators/prices'],
  },
  platform: {
    folders: ['platform'],
    tests: [
      'tools/executor-differential/local/local.test.ts',
      'test/topology/gateway-subgraphs.test.ts',
      'test/graphql/library.test.ts',
    ],
  },
  // By all tests of its components, as a part of many pages is seen by those of one of them; the walks through a browser
  // (tools/browser) take minutes each.
  console: { folders: ['console/src'], nearest: 200 },
};

/** What is tests, what tests are made of, or generated: most of the console's changes would be in its operations. */
const NO_PRODUCT =
  /\.(test|fixture|contract)\.tsx?$|(^|\/)(fixtures|testing|migrations)\/|^(test|tools|schema)\/|\.d\.ts$|^console\/src\/api\/documents\//;

/** The product's files of an area, or of a folder. */
export function selectFiles(name: string, files: readonly string[]): readonly string[] {
  const { folders, without = [] } = AREAS[name] ?? { folders: [name] };
  const isIn = (file: string, folder: string): boolean => folder === '.' || file.startsWith(`${folder}/`);
  return files.filter(
    (file) =>
      folders.some((folder) => isIn(file, folder)) &&
      !without.some((folder) => isIn(file, folder)) &&
      !NO_PRODUCT.test(file),
  );
}
