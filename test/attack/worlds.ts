import { createHash } from 'node:crypto';

import { graphql } from '../kit/clients/requests.ts';
import { signedIn } from '../kit/clients/sign-in.ts';
import { startKiln } from '../kit/kiln.ts';
import { createOwnedResources } from '../policy/owned-resources.ts';
import { openPolicySetup } from '../policy/setup.ts';
import { startSplitKiln } from '../topology/split.ts';
import type { Mode, World } from './attack.ts';

/** Starts a Kiln in each mode, with somebody's things in it. */

const OPERATOR = 'kiln_secret-of-the-operator';
const settings = {
  SERVICE_KEYS: `operator=${createHash('sha256').update(OPERATOR).digest('hex')}`,
  // Small enough to be reached, large enough for all other attempts.
  CONNECTION_LIMIT: '100',
  UPLOAD_QUOTAS: 'anonymous=5000000/40,user=50000/10,key=0/0',
};
const admin = { authorization: `Bearer ${OPERATOR}` };

export function startWorld(mode: Mode): Promise<World> {
  if (mode === 'production') return production();
  return mode === 'split' ? split() : embedded(mode);
}

async function embedded(mode: 'open' | 'compat' | 'required'): Promise<World> {
  const setup = await openPolicySetup(mode, { ...settings, UNPAID_EXECUTIONS: 'open' });
  const { kiln, callers } = setup;
  const owned = await createOwnedResources(setup, 'owner');
  return {
    mode,
    url: kiln.url,
    attackers: { anonymous: {}, 'another user': callers.other.headers },
    ids: { ...owned, user: callers.owner.id },
    ports: [],
    admin,
    close: () => kiln.close(),
  };
}

async function production(): Promise<World> {
  const kiln = await startKiln({
    settings: { KILN_ENV: 'production', REST_AUTH: 'required', SANDBOX_URL: '', ...settings },
  });
  const make = 'mutation { createServiceKey(name: "reader", scopes: ["read"]) { secret } }';
  const { data } = await graphql(kiln.url, make, {}, admin);
  const reader = { authorization: `Bearer ${data.createServiceKey.secret}` };
  return {
    mode: 'production',
    url: kiln.url,
    attackers: { anonymous: {}, 'a key that reads': reader },
    ids: {},
    ports: [],
    admin,
    close: () => kiln.close(),
  };
}

async function split(): Promise<World> {
  const kiln = await startSplitKiln({ ...settings, REST_AUTH: 'compat' });
  const [ada, ben] = await Promise.all([signedIn(kiln.url), signedIn(kiln.url, 'sandbox-ben')]);
  const own = { authorization: `Bearer ${ada.access_token}` };
  const task = await graphql(
    kiln.url,
    'mutation { createTask(taskType: "tea", prompt: "mine") { id } }',
    {},
    own,
  );
  return {
    mode: 'split',
    url: kiln.url,
    attackers: { anonymous: {}, 'another user': { authorization: `Bearer ${ben.access_token}` } },
    ids: { task: task.data.createTask.id, user: ada.user.id },
    ports: ['MEDIA_URL', 'WORKFLOW_URL'].map((name) => kiln.settings[name] ?? ''),
    admin,
    close: () => kiln.close(),
  };
}
