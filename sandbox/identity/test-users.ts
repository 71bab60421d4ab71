/** A user who can sign in at the sandbox; the domain of the address does not exist. */
export interface TestUser {
  /** The subject that the identity provider gives out. */
  readonly subject: string;
  readonly name: string;
  readonly email: string;
}

/** The users of the login page, in its order. */
export const testUsers: readonly TestUser[] = [
  { subject: 'sandbox-ada', name: 'Ada', email: 'ada@sandbox.example' },
  { subject: 'sandbox-ben', name: 'Ben', email: 'ben@sandbox.example' },
  { subject: 'sandbox-admin', name: 'Operator', email: 'operator@sandbox.example' },
];

const bySubject = new Map(testUsers.map((person) => [person.subject, person]));

/** The user with this subject. */
export function findTestUser(subject: string): TestUser | undefined {
  return bySubject.get(subject);
}
