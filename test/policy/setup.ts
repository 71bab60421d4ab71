import type { AuthMode } from '../../platform/access/policy.ts';
import { graphql } from '../kit/clients/requests.ts';
import { signedIn } from '../kit/clients/sign-in.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

/** A Kiln in one mode, and every kind of caller of it, each with its own way to authenticate. */
export interface PolicySetup {
  readonly kiln: KilnUnderTest;
  readonly mode: AuthMode;
  readonly callers: Callers;
  /** The same people with further sessions. */
  signInAgain(): Promise<Callers>;
}

type Callers = Readonly<Record<CallerName, TestCaller>>;

export const callerNames = ['anonymous', 'other', 'owner', 'key', 'admin'] as const;

/** `other` and `owner` are users; `key` is a service key without a scope; `admin` a user whom ADMIN_SUBJECTS names. */
export type CallerName = (typeof callerNames)[number];

interface TestCaller {
  readonly headers: Readonly<Record<string, string>>;
  /** `anon`, `usr_...` or `key_...`. */
  readonly id: string;
}

const CREATE_KEY = `mutation {
  createServiceKey(name: "back office", scopes: []) { secret key { id } }
}`;

/** Starts it, signs the three people in, and lets the administrator make the key. */
export async function openPolicySetup(
  mode: AuthMode,
  more: Readonly<Record<string, string>> = {},
): Promise<PolicySetup> {
  const kiln = await startKiln({
    settings: (sandboxUrl) => ({
      REST_AUTH: mode,
      UNPAID_EXECUTIONS: 'open',
      ADMIN_SUBJECTS: `${sandboxUrl}/identity|sandbox-admin`,
      ...more,
    }),
  });
  try {
    const people = await signInPeople(kiln.url);
    const { data } = await graphql(kiln.url, CREATE_KEY, {}, people.admin.headers);
    const { secret, key } = data.createServiceKey;
    const others = {
      anonymous: { headers: {}, id: 'anon' },
      key: { headers: bearer(secret), id: key.id },
    };
    return {
      kiln,
      mode,
      callers: { ...others, ...people },
      signInAgain: async () => ({ ...others, ...(await signInPeople(kiln.url)) }),
    };
  } catch (error) {
    await kiln.close();
    throw error;
  }
}

async function signInPeople(url: string): Promise<Pick<Callers, 'owner' | 'other' | 'admin'>> {
  const [owner, other, admin] = await Promise.all([
    signInUser(url, 'sandbox-ada'),
    signInUser(url, 'sandbox-ben'),
    signInUser(url, 'sandbox-admin'),
  ]);
  return { owner, other, admin };
}

async function signInUser(url: string, subject: string): Promise<TestCaller> {
  const { user, access_token: token } = await signedIn(url, subject);
  return { headers: bearer(token), id: user.id };
}

function bearer(secret: string): TestCaller['headers'] {
  return { authorization: `Bearer ${secret}` };
}
