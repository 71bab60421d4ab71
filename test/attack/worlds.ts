import { createHash } from 'node:crypto';

import { sandboxAddresses } from '../../platform/config/sandbox-addresses.ts';
import { graphql, rest } from '../kit/clients/requests.ts';
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
/** Work that is made to be attacked need not take time. */
const FAST = { queuedMs: 0, runningMs: 0 };
const admin = { authorization: `Bearer ${OPERATOR}` };

export function startWorld(mode: Mode): Promise<World> {
  if (mode === 'production') return production();
  return mode === 'split' ? split() : embedded(mode);
}

async function embedded(mode: 'open' | 'compat' | 'required'): Promise<World> {
  const setup = await openPolicySetup(mode, { ...settings, UNPAID_EXECUTIONS: 'open' });
  const { kiln, callers } = setup;
  await kiln.control('latency', FAST);
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

/** Users of a mini-program, as the sandbox's identity provider is not for production; nothing is sold. */
async function production(): Promise<World> {
  const kiln = await startKiln({
    settings: (sandboxUrl) => ({
      KILN_ENV: 'production',
      REST_AUTH: 'required',
      SANDBOX_URL: '',
      UNPAID_EXECUTIONS: 'open',
      WECHAT_APPS: 'wx00000000sandbox1=kiln-sandbox-wechat',
      WECHAT_BASE_URL: `${sandboxUrl}/wechat`,
      AGG_BASE_URL: sandboxAddresses(sandboxUrl).midjourney,
      AGG_API_KEY: 'a key of the stand-in',
      ...settings,
    }),
  });
  await kiln.control('latency', FAST);
  const [ada, ben] = await Promise.all([userOfWechat(kiln.url, 'ada'), userOfWechat(kiln.url, 'ben')]);
  const task = 'mutation { createTask(taskType: "tea", prompt: "mine") { id } }';
  const run = 'mutation { executeTemplate(code: "poster", parameters: { prompt: "mine" }) { id taskId } }';
  const [started, executed, uploaded] = await Promise.all([
    graphql(kiln.url, task, {}, ada.headers),
    graphql(kiln.url, run, {}, ada.headers),
    rest(kiln.url, 'POST', '/api/file/upload', formOf('mine'), ada.headers),
  ]);
  return {
    mode: 'production',
    url: kiln.url,
    attackers: { anonymous: {}, 'another user': ben.headers },
    ids: {
      task: started.data.createTask.id,
      file: uploaded.body.extra.key,
      execution: executed.data.executeTemplate.id,
      executionTask: executed.data.executeTemplate.taskId,
      user: ada.id,
    },
    ports: [],
    admin,
    close: () => kiln.close(),
  };
}

async function userOfWechat(url: string, name: string) {
  const { body } = await rest(url, 'POST', '/auth/wechat/token', { code: `${name}-wechat-attack` });
  return { id: body.data.user.id, headers: { authorization: `Bearer ${body.data.access_token}` } };
}

function formOf(text: string): FormData {
  const form = new FormData();
  form.set('file', new Blob([text]), 'x.txt');
  return form;
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
