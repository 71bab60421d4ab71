import type { WorkflowTransaction } from '../../database/database.ts';

/** A user's first sign-in, and their subject at the identity provider. */
interface FirstSignIn {
  readonly userId: string;
  readonly subject: string;
}

/**
 * Assigns executions and payments to a new user that were made for them before their first sign-in, by callers who named
 * their subject. Rows of service keys stay those keys' own as well.
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
