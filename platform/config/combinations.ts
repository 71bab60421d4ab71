import { isIP } from 'node:net';

import type { CommandLine } from './command-line.ts';
import { checkPayments } from './payments.ts';
import type { Report } from './settings/setting.ts';
import { realSettings, type Values } from './settings/settings.ts';
import { checkSignIn } from './sign-in.ts';
import { checkStorage } from './storage.ts';

/** What the checks that span several settings work on. */
export interface SettingsContext {
  readonly values: Values;
  readonly commandLine: CommandLine;
  readonly role: Values['ROLE'];
  readonly production: boolean;
}

/** Checks the settings that depend on each other. A partial configuration does not start. */
export function checkCombinations(context: SettingsContext, report: Report): void {
  checkSplit(context, report);
  checkProcesses(context, report);
  checkAuth(context, report);
  checkSandboxSignIn(context, report);
  checkProviders(context.values, report);
  checkStorage(context.values, report);
  checkPayments(context.values, report, context.production);
  checkSignIn(context.values, report, context.production);
  checkFallback(context.values, report);
  checkRates(context, report);
  if (context.production && context.values.SANDBOX_URL !== null) {
    report('SANDBOX_URL', 'there is no sandbox in production: unset it, or set KILN_ENV=development');
  }
}

/** Without limits nothing is counted, so that a limit of a single caller would hold nobody. */
function checkRates({ values, role }: SettingsContext, report: Report): void {
  const isLimited = values.RATE_LIMIT_CALLERS.some(({ limits }) => limits !== null);
  if (values.RATE_COUNTS === 'database' && role === 'gateway' && values.DATABASE_URL === null) {
    report('RATE_COUNTS', 'database needs DATABASE_URL at a gateway');
  }
  if (values.RATE_LIMIT !== null || !isLimited) return;
  report('RATE_LIMIT_CALLERS', 'limits nobody while RATE_LIMIT is off: give RATE_LIMIT high limits instead');
}

/** An address that Kiln has taken over leads back to Kiln. */
function checkFallback(values: Values, report: Report): void {
  for (const name of ['FALLBACK_MEDIA_URL', 'FALLBACK_WORKFLOW_URL'] as const) {
    if (values[name] === null || values[name] !== values.PUBLIC_URL) continue;
    report(name, 'is PUBLIC_URL itself: give the old service another address before Kiln takes this one');
  }
}

function checkProcesses({ values, role, production }: SettingsContext, report: Report): void {
  if (values.PROCESSES === 1) return;
  if (role !== 'all' && role !== 'gateway') {
    report(
      'PROCESSES',
      `is for roles all and gateway: start as many processes of role ${role} as it should be`,
    );
  } else if (role === 'all' && !production && values.SANDBOX_URL === null) {
    report(
      'PROCESSES',
      'needs SANDBOX_URL in development (npm run start:sandbox): the embedded sandbox is part of one process',
    );
  }
}

function checkSplit({ values, commandLine, role, production }: SettingsContext, report: Report): void {
  const isOtherGraph = commandLine.supergraph !== null || commandLine.subgraphs !== null;
  if (commandLine.config !== null && !isOtherGraph) {
    report(
      '--config',
      'is for the gateway of another supergraph: add --supergraph FILE, or --subgraphs FILE',
    );
  }
  if (commandLine.supergraph !== null && commandLine.subgraphs !== null) {
    report('--subgraphs', 'composes what --supergraph holds composed: keep one of them');
  }
  if (isOtherGraph && role !== 'gateway') {
    const name = commandLine.supergraph === null ? '--subgraphs' : '--supergraph';
    report(name, 'is for the gateway alone: add --role gateway');
  }
  if (!isOtherGraph && values.SHARED_READS.length > 0) {
    report(
      'SHARED_READS',
      'is for subgraphs of --supergraph FILE: those of Kiln learn who asks, and share nothing',
    );
  }
  const isNamed = values.MEDIA_URL !== null || values.WORKFLOW_URL !== null;
  const isSplit = isNamed || (role !== 'all' && !isOtherGraph);
  if (values.INTERNAL_KEY !== null) return;
  if (isSplit) {
    report('INTERNAL_KEY', 'is needed when processes are split: set the same secret for all of them');
  } else if (production && values.FILES_URL_TTL > 0) {
    report('INTERNAL_KEY', 'is needed in production when FILES_URL_TTL is set: it signs file addresses');
  }
}

/** Refuses to start without REST_AUTH once anything real is configured (docs/policy.md). */
function checkAuth({ values, role, production }: SettingsContext, report: Report): void {
  // A worker serves no requests.
  if (values.REST_AUTH !== null || role === 'worker') return;
  const reasons = reasonsToSetAuth(values, production);
  if (reasons.length === 0) return;
  report(
    'REST_AUTH',
    `must be chosen (open: nobody needs a credential; compat: as the documents say; required: everybody does), because ${reasons.join(', ')}`,
  );
}

/** Where the sandbox signs people in, anybody chooses who they are: nothing real may be spent in their name. */
function checkSandboxSignIn({ values, role, production }: SettingsContext, report: Report): void {
  const { REST_AUTH: mode } = values;
  const spent = spendingSettings(values);
  if (production || role === 'worker' || mode === null || mode === 'open' || spent.length === 0) return;
  if (values.IDP_ISSUER !== null) return;
  report(
    'IDP_ISSUER',
    `is needed in development with REST_AUTH=${mode} and ${spent.join(', ')}, as the sandbox signs anybody in as anybody: set it with IDP_CLIENT_ID, or KILN_ENV=production, which has no such sign-in`,
  );
}

const SIGN_IN_SETTINGS = ['IDP_ISSUER', 'WECHAT_APPS', 'DOUYIN_APPS', 'ALIPAY_APPS'];

/** The settings that connect Kiln to something real other than people. */
export function spendingSettings(values: Values): string[] {
  return realSettings.filter((name) => values[name] !== null && !SIGN_IN_SETTINGS.includes(name));
}

/** Whether all of it is embedded or the sandbox, on this machine alone: what the terminal shows is for who started it. */
export function isAllEmbedded({ values, production }: SettingsContext): boolean {
  return !production && isLoopback(values.HOST) && realSettings.every((name) => values[name] === null);
}

/** Why REST_AUTH must be set: whatever makes Kiln spend money, use somebody's machines, or know real people. */
function reasonsToSetAuth(values: Values, production: boolean): string[] {
  return [
    ...(production ? ['this is production'] : []),
    // A demo is for anybody who reaches it, until it could spend money.
    ...(isLoopback(values.HOST) || values.KILN_ENV === 'demo' ? [] : ['HOST is not a loopback address']),
    ...realSettings.filter((name) => values[name] !== null).map((name) => `${name} is set`),
  ];
}

/** Settings that need another one: which, and what that is. */
const NEEDED_WITH: readonly (readonly [keyof Values, keyof Values, string])[] = [
  ['MIDJOURNEY_SECRET', 'MIDJOURNEY_BASE_URL', 'the address of the midjourney-proxy server'],
  ['AGG_API_KEY', 'AGG_BASE_URL', 'the address of the aggregator'],
  ['AGG_BASE_URL', 'AGG_API_KEY', 'the key of the aggregator'],
  ['GEMINI_BASE_URL', 'GEMINI_API_KEY', 'the key of that API'],
  ['KLING_ACCESS_KEY', 'KLING_SECRET_KEY', 'the other half of the pair'],
  ['KLING_SECRET_KEY', 'KLING_ACCESS_KEY', 'the other half of the pair'],
  ['MINIMAX_BASE_URL', 'MINIMAX_API_KEY', 'the key of that API'],
  ['MINIMAX_GROUP_ID', 'MINIMAX_API_KEY', 'the key of that group'],
  ['HEDRA_BASE_URL', 'HEDRA_API_KEY', 'the key of that API'],
  ['ARK_BASE_URL', 'ARK_API_KEY', 'the key of that API'],
  ['HIGGSFIELD_BASE_URL', 'HIGGSFIELD_KEY', 'the credentials of that API'],
  ['VOLCENGINE_ACCESS_KEY', 'VOLCENGINE_SECRET_KEY', 'the other half of the pair'],
  ['VOLCENGINE_SECRET_KEY', 'VOLCENGINE_ACCESS_KEY', 'the other half of the pair'],
  ['VOLCENGINE_BASE_URL', 'VOLCENGINE_ACCESS_KEY', 'the key of that service'],
  ['VOLCENGINE_VOD_BASE_URL', 'VOLCENGINE_ACCESS_KEY', 'the key of that service'],
  ['VOLCENGINE_VOD_SPACE', 'VOLCENGINE_ACCESS_KEY', 'the key of that service'],
  ['FAL_BASE_URL', 'FAL_KEY', 'the key of that service'],
  ['FAL_REST_BASE_URL', 'FAL_KEY', 'the key of that service'],
  ['FAL_SCHEMA_BASE_URL', 'FAL_KEY', 'the key of that service'],
  ['REPLICATE_BASE_URL', 'REPLICATE_API_TOKEN', 'the token of that API'],
  ['COMFYUI_API_KEY', 'COMFYUI_URLS', 'the addresses of the servers that ask for it'],
];

function checkProviders(values: Values, report: Report): void {
  for (const [present, needed, what] of NEEDED_WITH) {
    if (values[present] !== null && values[needed] === null) {
      report(needed, `is needed with ${present}: ${what}`);
    }
  }
  if (values.HEDRA_BASE_URL === null && values.HEDRA_API_KEY?.includes(':') === false) {
    report(
      'HEDRA_API_KEY',
      'must be KEY_ID:SECRET; the key of an account of the older API needs HEDRA_BASE_URL=https://api.hedra.com/web-app',
    );
  }
  const hasPair = values.KLING_ACCESS_KEY !== null || values.KLING_SECRET_KEY !== null;
  if (values.KLING_API_KEY !== null && hasPair) {
    report('KLING_API_KEY', 'is instead of KLING_ACCESS_KEY and KLING_SECRET_KEY: unset one or the other');
  }
  if (values.KLING_BASE_URL !== null && values.KLING_API_KEY === null && !hasPair) {
    report('KLING_API_KEY', 'or KLING_ACCESS_KEY and KLING_SECRET_KEY are needed with KLING_BASE_URL');
  }
}

/** Whether the address is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
