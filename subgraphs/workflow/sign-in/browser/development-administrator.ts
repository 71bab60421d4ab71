import type { UserService } from '../../domain/sign-in.ts';
import type { LoginCodes } from '../sessions/login-codes.ts';

/**
 * The administrator of a development server. No identity provider vouches for them: who reads the terminal of `npm start`
 * does. In production they are no administrator (compose-parts.ts), and no code is issued for them.
 */
export const developmentAdministrator = {
  issuer: 'development',
  subject: 'development-administrator',
} as const;

/** Seconds in which the printed address can be used, once. */
const SECONDS = 15 * 60;

/** A login code that signs a browser in as the development administrator, once. */
export async function issueDevelopmentCode({
  users,
  codes,
}: {
  readonly users: Pick<UserService, 'linkUser'>;
  readonly codes: Pick<LoginCodes, 'issue'>;
}): Promise<string> {
  const { issuer: appId, subject } = developmentAdministrator;
  const { id: userId } = await users.linkUser({
    platform: 'idp',
    appId,
    subject,
    unionId: null,
    email: null,
    name: 'Development administrator',
    picture: null,
    secret: null,
  });
  return codes.issue({ userId, platform: 'idp', scope: 'openid', providerToken: null }, null, SECONDS);
}
