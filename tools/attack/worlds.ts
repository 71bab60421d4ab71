import { createHash } from 'node:crypto';

import { sandboxAddresses } from '../../platform/config/sandbox-addresses.ts';
import { graphql, rest } from '../../test/kit/clients/requests.ts';
import { platformSignIn, signedIn } from '../../test/kit/clients/sign-in.ts';
import { startKiln } from '../../test/kit/kiln.ts';
import { startSplitKiln } from '../../test/topology/split.ts';
import type { Mode, World } from './attack.ts';
import { createBelongings } from './belongings.ts';

/** Starts a Kiln in each mode, with the things of a user and of a service key in it. */

const secrets = { operator: 'kiln_secret-of-the-operator', slow: 'kiln_secret-of-the-slow-one' };
const hashSecret = (secret: string) => createHash('sha256').update(secret).digest('hex');
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
const admin = bearer(secrets.operator);

const settings = {
  SERVICE_KEYS: Object.entries(secrets)
    .map(([name, secret]) => `${name}=${hashSecret(secret)}`)
    .join(','),
  // Beyond all attempts, but for one key.
  RATE_LIMIT: 'status=1000000,read=1000000,start=1000000,write=1000000,sign-in=1000000,plan=1000000',
  RATE_LIMIT_CALLERS: 'key_slow start=3',
  // Small enough to be reached, large enough for all other attempts.
  CONNECTION_LIMIT: '250',
  UPLOAD_QUOTAS: 'anonymous=5000000/40,user=500000/10,key=0/0',
};

/** Addresses of files are signed and expire: ids of files open them for their owner alone. */
const secretFiles = { FILES_URL_TTL: '3600' };

/** A Kiln that has started, and how its people sign in. */
interface Started {
  readonly url: string;
  readonly sandboxUrl: string;
  readonly ports?: readonly string[];
  readonly signIn: (name: 'ada' | 'ben') => Promise<Person>;
  readonly close: () => Promise<void>;
}

interface Person {
  readonly user: { readonly id: string };
  readonly access_token: string;
}

const starts: Readonly<Record<Mode, () => Promise<Started>>> = {
  open: () => embedded({ REST_AUTH: 'open' }),
  compat: () => embedded({ REST_AUTH: 'compat' }),
  required: () => embedded({ REST_AUTH: 'required' }),
  production,
  split,
};

/** Starts it; with `isQuick` with the things of a user alone. */
export async function startWorld(mode: Mode, isQuick = false): Promise<World> {
  const { url, sandboxUrl, ports = [], signIn, close } = await starts[mode]();
  try {
    await endAtOnce(sandboxUrl);
    const [ada, ben, key] = await Promise.all([signIn('ada'), signIn('ben'), newKey(url)]);
    const user = { 'a user': bearer(ada.access_token) };
    const owners = isQuick ? user : { ...user, 'a service key': admin };
    const made = await Promise.all(
      Object.entries(owners).map(async ([whose, headers]) => {
        const id = whose === 'a user' ? ada.user.id : null;
        return [whose, await createBelongings({ url, headers, user: id, admin })] as const;
      }),
    );
    const attackers = { anonymous: {}, 'another user': bearer(ben.access_token) };
    const owned = Object.fromEntries(made);
    return { mode, url, attackers, key, slowKey: bearer(secrets.slow), owned, ports, admin, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function embedded(more: Readonly<Record<string, string>>): Promise<Started> {
  const kiln = await startKiln({ settings: { ...settings, ...more } });
  return {
    url: kiln.url,
    sandboxUrl: kiln.sandboxUrl,
    signIn: (name) => signedIn(kiln.url, `sandbox-${name}`),
    close: () => kiln.close(),
  };
}

/** The sandbox plays the real providers; users sign in with a mini-program, as its identity provider has no https. */
async function production(): Promise<Started> {
  const kiln = await startKiln({
    settings: (sandboxUrl) => ({
      KILN_ENV: 'production',
      REST_AUTH: 'required',
      SANDBOX_URL: '',
      INTERNAL_KEY: 'only-for-tests-0123456789abcdef0123456789',
      ...secretFiles,
      ...providersAt(sandboxUrl),
      ...settings,
    }),
  });
  return {
    url: kiln.url,
    sandboxUrl: kiln.sandboxUrl,
    signIn: (name) => platformSignIn(kiln.url, `${name}-1`),
    close: () => kiln.close(),
  };
}

function providersAt(sandboxUrl: string): Readonly<Record<string, string>> {
  const at = sandboxAddresses(sandboxUrl);
  return {
    WECHAT_APPS: 'wx00000000sandbox1=kiln-sandbox-wechat',
    WECHAT_BASE_URL: `${sandboxUrl}/wechat`,
    MIDJOURNEY_BASE_URL: at.midjourney,
    AGG_BASE_URL: at.midjourney,
    AGG_API_KEY: 'a-key',
    OPENAI_API_KEY: 'a-key',
    OPENAI_BASE_URL: at.openai,
    GEMINI_API_KEY: 'a-key',
    GEMINI_BASE_URL: at.gemini,
    HIGGSFIELD_KEY: 'a:key',
    HIGGSFIELD_BASE_URL: at.higgsfield,
    ARK_API_KEY: 'a-key',
    ARK_BASE_URL: at.ark,
    MINIMAX_API_KEY: 'a-key',
    MINIMAX_BASE_URL: at.minimax,
    COMFYUI_URLS: at.comfyui.join(','),
  };
}

async function split(): Promise<Started> {
  const kiln = await startSplitKiln({ ...settings, ...secretFiles, REST_AUTH: 'compat' });
  return {
    url: kiln.url,
    sandboxUrl: kiln.sandbox.url,
    ports: ['MEDIA_URL', 'WORKFLOW_URL'].map((name) => kiln.settings[name] ?? ''),
    signIn: (name) => signedIn(kiln.url, `sandbox-${name}`),
    close: () => kiln.close(),
  };
}

/** Work of the sandbox ends at once. */
async function endAtOnce(sandboxUrl: string): Promise<void> {
  await rest(sandboxUrl, 'POST', '/_control/latency', { queuedMs: 0, runningMs: 0 });
}

async function newKey(url: string): Promise<Readonly<Record<string, string>>> {
  const make = 'mutation { createServiceKey(name: "back office", scopes: []) { secret } }';
  const { data } = await graphql(url, make, {}, admin);
  return bearer(data.createServiceKey.secret);
}
