import path from 'node:path';

import type { AuthMode } from '../access/policy.ts';
import type { LogLevel } from '../process/logger.ts';
import { checkCombinations, type SettingsContext } from './combinations.ts';
import { readCommandLine } from './command-line.ts';
import { readGeneratorsFile, type GeneratorsFileText } from './generators-file.ts';
import { paymentsOf, type PaymentsConfig } from './payments.ts';
import { providersOf, type ProvidersConfig } from './providers.ts';
import type { RateLimits } from './settings/rate-limits.ts';
import { readSettings, type SettingLine } from './settings/setting.ts';
import { settings, type Values } from './settings/settings.ts';
import { signInOf, type SignInConfig } from './sign-in.ts';
import { storageOf, type StorageConfig } from './storage.ts';

/**
 * The configuration of one process. A section is null when its feature is not configured. Only this folder reads the
 * environment.
 */
export interface Config {
  /** No sandbox, no development key, errors masked. */
  readonly production: boolean;
  readonly role: Role;
  readonly server: ServerConfig;
  readonly data: DataConfig;
  readonly split: SplitConfig;
  readonly auth: AuthConfig;
  readonly signIn: SignInConfig;
  readonly limits: LimitsConfig;
  readonly files: FilesConfig;
  readonly outbound: { readonly allow: readonly string[] };
  /** `whsec_` and base64; null: made at the first start (installation-secret.ts). */
  readonly webhooks: { readonly secret: string | null };
  readonly providers: ProvidersConfig & { readonly generatorsFile: GeneratorsFileText | null };
  readonly payments: PaymentsConfig;
  /** Null in production. `url` is null when the sandbox is embedded in this process. */
  readonly sandbox: { readonly url: string | null } | null;
  readonly log: { readonly level: LogLevel };
}

/** What this process runs: everything, or one part of a split system. */
type Role = 'all' | 'gateway' | 'media' | 'workflow' | 'worker';

/** Where Kiln listens, which proxies it trusts, and which browser origins may call. */
export interface ServerConfig {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Without a trailing slash. Null: http://HOST:PORT, known once it listens (see `publicUrlOf`). */
  readonly publicUrl: string | null;
  /** Addresses and CIDRs whose X-Forwarded-* headers are trusted. */
  readonly trustProxy: readonly string[];
  /** Browser origins that may call. */
  readonly corsOrigins: 'any' | readonly string[];
}

interface DataConfig {
  /** Absolute. */
  readonly dir: string;
  /** Null: the embedded PostgreSQL. */
  readonly databaseUrl: string | null;
}

interface SplitConfig {
  /** Null: in process, or as the supergraph names it. */
  readonly mediaUrl: string | null;
  readonly workflowUrl: string | null;
  readonly internalKey: string | null;
  /** `--supergraph FILE` (absolute): the gateway serves this supergraph only. */
  readonly supergraphFile: string | null;
}

interface AuthConfig {
  readonly mode: AuthMode;
  /** Whether the mode was set; otherwise it is open because everything is embedded. */
  readonly isChosen: boolean;
  readonly serviceKeys: readonly { readonly name: string; readonly sha256: string }[];
  readonly adminSubjects: readonly { readonly issuer: string; readonly subject: string }[];
}

interface LimitsConfig {
  /** Requests per minute and caller, by class; null when off. */
  readonly rate: RateLimits;
  readonly uploadMaxBytes: number;
  readonly syncMaxWaitSeconds: number;
}

interface FilesConfig extends StorageConfig {
  /** 0: addresses are permanent and unsigned. */
  readonly urlTtlSeconds: number;
  /** 0: for ever. */
  readonly mediaRetentionDays: number;
  /** 0: for ever. */
  readonly eventRetentionDays: number;
}

/** All problems of the settings at once, each with its remedy. The caller prints it and exits with 1. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.map(({ setting, message }) => `  ${setting} ${message}`);
    super(`Kiln can't start with these settings:\n${lines.join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** A wrong setting, and what would be right. */
export interface ConfigProblem {
  readonly setting: string;
  readonly message: string;
}

const PORTS: Readonly<Record<Role, number>> = {
  all: 4000,
  gateway: 4000,
  media: 4001,
  workflow: 4002,
  worker: 4003,
};

/**
 * Reads the environment and the command line (without the program's name). Throws ConfigError with every problem found.
 */
export function readConfig(
  environment: NodeJS.ProcessEnv = process.env,
  commandLineWords: readonly string[] = [],
): Config {
  const problems: ConfigProblem[] = [];
  const report = (name: string, message: string) => void problems.push({ setting: name, message });
  const commandLine = readCommandLine(commandLineWords, report);
  const values = readSettings(
    settings,
    { ...environment, ROLE: commandLine.role ?? environment['ROLE'] },
    report,
  );
  const production = values.KILN_ENV === 'production' || environment['NODE_ENV'] === 'production';
  const context: SettingsContext = { values, commandLine, role: values.ROLE, production };
  checkCombinations(context, report);
  const generatorsFile = readGeneratorsFile(absolute(values.GENERATORS_FILE), environment, report);
  const signIn = signInOf(values, report);
  if (problems.length > 0) throw new ConfigError(problems);
  return { ...configOf(context), signIn, providers: { ...providersOf(values), generatorsFile } };
}

/** All settings with default and meaning, in order: the table of the README and .env.example. */
export function settingsTable(): readonly SettingLine[] {
  return Object.entries(settings).map(([name, line]) => ({
    name,
    default: line.default || 'none',
    meaning: line.meaning,
  }));
}

/**
 * The address that callers use, once the port is known. A server that listens on all addresses is called as localhost.
 */
export function publicUrlOf({ host, publicUrl }: ServerConfig, port: number): string {
  if (publicUrl !== null) return publicUrl;
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

function configOf({
  values,
  commandLine,
  role,
  production,
}: SettingsContext): Omit<Config, 'providers' | 'signIn'> {
  return {
    production,
    role,
    server: serverOf(values, production),
    data: { dir: path.resolve(values.DATA_DIR), databaseUrl: values.DATABASE_URL },
    split: {
      mediaUrl: values.MEDIA_URL,
      workflowUrl: values.WORKFLOW_URL,
      internalKey: values.INTERNAL_KEY,
      supergraphFile: absolute(commandLine.supergraph),
    },
    auth: {
      mode: values.REST_AUTH ?? 'open',
      isChosen: values.REST_AUTH !== null,
      serviceKeys: values.SERVICE_KEYS,
      adminSubjects: values.ADMIN_SUBJECTS,
    },
    limits: {
      rate: values.RATE_LIMIT,
      uploadMaxBytes: values.UPLOAD_MAX_BYTES,
      syncMaxWaitSeconds: values.SYNC_MAX_WAIT,
    },
    files: {
      urlTtlSeconds: values.FILES_URL_TTL,
      mediaRetentionDays: values.MEDIA_RETENTION_DAYS,
      eventRetentionDays: values.EVENT_RETENTION_DAYS,
      ...storageOf(values),
    },
    outbound: { allow: values.OUTBOUND_ALLOW },
    webhooks: { secret: values.WEBHOOK_SECRET },
    payments: paymentsOf(values, production),
    sandbox: production ? null : { url: values.SANDBOX_URL },
    log: { level: values.LOG_LEVEL },
  };
}

function serverOf(values: Values, production: boolean): ServerConfig {
  const origins = values.CORS_ORIGINS ?? (production ? [] : ['*']);
  return {
    host: values.HOST,
    port: values.PORT ?? PORTS[values.ROLE],
    publicUrl: values.PUBLIC_URL,
    trustProxy: values.TRUST_PROXY,
    corsOrigins: origins.includes('*') ? 'any' : origins,
  };
}

function absolute(file: string | null): string | null {
  return file === null ? null : path.resolve(file);
}
