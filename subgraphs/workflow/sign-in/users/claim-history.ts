import type { WorkflowTransaction } from '../../database/database.ts';

/** Somebody's first sign-in, by the word that their identity provider has for them. */
interface FirstSignIn {
  readonly userId: string;
  readonly subject: string;
}

/**
 * What was bought and run for somebody before they first signed in, by callers who named them as the identity provider
 * does, is theirs from now on: their name leads to their own id, and nobody else may use it. Rows of service keys stay
 * those keys' own as well. Only for an id that is new, which owns nothing that this could clash with.
 */
export async function claimHistory(
  transaction: WorkflowTransaction,
  { userId, subject }: FirstSignIn,
): Promise<void> {
  for (const table of ['workflow.executions', 'workflow.payments'] as const) {
    await transaction
      .updateTable(table)
      .set((row) => ({
        userId,
        owner: row.case().when('owner', '=', 'anon').then(userId).else(row.ref('owner')).end(),
      }))
      .where('userId', '=', subject)
      .execute();
  }
}
