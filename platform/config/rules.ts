import { isIP } from 'node:net';

import type { CommandLine } from './command-line.ts';
import type { ValuesOf } from './setting.ts';
import type { settings } from './settings.ts';

/** The read settings, by name. */
export type Values = ValuesOf<typeof settings>;

/** Takes one problem: the setting at fault, and what to do. */
export type Report = (name: string, message: string) => void;

export interface Facts {
  readonly values: Values;
  readonly commandLine: CommandLine;
  readonly role: Values['ROLE'];
  readonly production: boolean;
}

/** What settings demand of each other. Nothing half-configured starts. */
export function checkTogether(facts: Facts, report: Report): void {
  checkSplit(facts, report);
  checkAuth(facts, report);
  checkProviders(facts.values, report);
  if (facts.production && facts.values.SANDBOX_URL !== null) {
    report('SANDBOX_URL', 'there is no sandbox in production: unset it, or set KILN_ENV=development');
  }
}

function checkSplit({ values, commandLine, role, production }: Facts, report: Report): void {
  if (commandLine.supergraph !== null && role !== 'gateway') {
    report('--supergraph', 'is for the gateway alone: add --role gateway');
  }
  const isSplit = role !== 'all' || values.MEDIA_URL !== null || values.WORKFLOW_URL !== null;
  if (values.INTERNAL_KEY !== null) return;
  if (isSplit && commandLine.supergraph === null) {
    report('INTERNAL_KEY', 'is needed when processes are split: set the same secret for all of them');
  } else if (production && values.FILES_URL_TTL > 0) {
    report('INTERNAL_KEY', 'is needed in production when FILES_URL_TTL is set: it signs file addresses');
  }
}

/** The start is refused until REST_AUTH is chosen, once anything real is configured (spec/decisions.md). */
function checkAuth({ values, role, production }: Facts, report: Report): void {
  // A worker answers nobody.
  if (values.REST_AUTH !== null || role === 'worker') return;
  const reasons = realThings(values, production);
  if (reasons.length === 0) return;
  report(
    'REST_AUTH',
    `must be chosen (open: nobody needs a credential; compat: as the documents say; required: everybody does), because ${reasons.join(', ')}`,
  );
}

function realThings(values: Values, production: boolean): string[] {
  const keys = [
    'OPENAI_API_KEY',
    'OPENAI_BASE_URL',
    'MIDJOURNEY_BASE_URL',
    'MIDJOURNEY_SECRET',
    'AGG_BASE_URL',
    'AGG_API_KEY',
  ] as const;
  return [
    ...(production ? ['this is production'] : []),
    ...(isLoopback(values.HOST) ? [] : ['HOST is not a loopback address']),
    ...keys.filter((key) => values[key] !== null).map((key) => `${key} is set`),
  ];
}

function checkProviders(values: Values, report: Report): void {
  if (values.MIDJOURNEY_SECRET !== null && values.MIDJOURNEY_BASE_URL === null) {
    report(
      'MIDJOURNEY_BASE_URL',
      'is needed with MIDJOURNEY_SECRET: the address of the midjourney-proxy server',
    );
  }
  if (values.AGG_API_KEY !== null && values.AGG_BASE_URL === null) {
    report('AGG_BASE_URL', 'is needed with AGG_API_KEY: the address of the aggregator');
  }
  if (values.AGG_BASE_URL !== null && values.AGG_API_KEY === null) {
    report('AGG_API_KEY', 'is needed with AGG_BASE_URL: the key of the aggregator');
  }
}

/** Whether only this machine reaches the address. */
function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
