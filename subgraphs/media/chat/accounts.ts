import { newId } from '../../../platform/ids.ts';
import type { BudgetGate } from '../budgets/gate.ts';
import type { MediaTransaction } from '../database/database.ts';
import { tokenUnits, type Units } from '../domain/cost.ts';
import type { Binding } from '../generators/bindings/binding.ts';
import { costOfChat, expectedCostOfChat } from '../generators/prices/cost.ts';
import type { ChatOutcome } from '../providers/contract/provider.ts';
import type { AccountingDependencies } from '../tasks/accounting/settle.ts';
import type { Transactor } from '../tasks/storage/transactor.ts';
import { lockHolder, releaseHolder, settleChat, type ChatCharge } from '../tasks/storage/usage-store.ts';
import { findChatModel } from './conversation/limits.ts';
import { countCharacters, type Conversation } from './conversation/messages.ts';

/** What chats cost: reserved of budgets before they are sent, charged when they end. */
export type ChatAccounts = ReturnType<typeof createChatAccounts>;

/** Whose chat it is, and who may answer it. */
interface AccountedChat {
  readonly owner: string;
  readonly generator: string;
  readonly bindings: readonly Binding[];
  readonly model: string | null;
  readonly conversation: Conversation;
}

/** What an answer is charged by. */
export type ChargedOutcome = Pick<ChatOutcome, 'usage' | 'files'>;

/** The account of one chat. */
export interface ChatAccount {
  /** A provider has answered; null: it broke off, and nobody knows what it charges. */
  charge(binding: Binding, outcome: ChargedOutcome | null): void;
  /** Writes what was charged and releases what was reserved, in one transaction with what else is to be written. */
  close(write?: (transaction: MediaTransaction) => Promise<void>): Promise<void>;
}

export interface ChatAccountOptions extends Pick<AccountingDependencies, 'observer' | 'budgetWarnings'> {
  readonly transactor: Transactor;
  /** Absent: nothing is reserved. */
  readonly budgetGate?: BudgetGate | undefined;
  /** Longest time of a chat, after which its reservation ends by itself. */
  readonly longestMs: number;
}

/** Makes the accounts of a process. */
export function createChatAccounts(options: ChatAccountOptions) {
  const { transactor, budgetGate, budgetWarnings, observer } = options;
  return {
    /** Throws BUDGET_EXCEEDED. */
    async open(chat: AccountedChat): Promise<ChatAccount> {
      const id = newId();
      const startedAt = new Date();
      const charges: ChatCharge[] = [];
      const reserve = await budgetGate?.open({
        id,
        owner: chat.owner,
        parts: () => [{ generator: chat.generator, ...estimateUsage(chat) }],
        expiresInSeconds: (options.longestMs * 2) / 1000,
      });
      if (reserve) {
        await transactor.run(async (scope) => {
          const soft = await reserve(scope.transaction);
          if (soft.length > 0) await budgetWarnings?.warn(scope, soft);
        });
      }
      return {
        charge: (binding, outcome) => void charges.push(computeCharge(chat, binding, outcome)),
        async close(write) {
          if (write === undefined && charges.length === 0 && !reserve) return;
          await transactor.run(async (scope) => {
            await write?.(scope.transaction);
            if (reserve) await lockHolder(scope.transaction, id);
            for (const charge of charges) {
              const soft = await settleChat(scope.transaction, id, charge);
              if (soft.length > 0) await budgetWarnings?.warn(scope, soft);
              scope.afterCommit(() =>
                observer?.attemptEnded({ ...charge, startedAt }, { outcome: 'finished', cost: charge.cost }),
              );
            }
            if (reserve) await releaseHolder(scope.transaction, id);
          });
        },
      };
    },
  };
}

function estimateUsage({ bindings, model, conversation }: AccountedChat) {
  const [binding] = bindings;
  if (binding === undefined) throw new Error('a chat has at least one binding');
  const cost = expectedCostOfChat(
    binding,
    { model: pricedModel(binding, model), options: conversation.options.vendorOptions },
    {
      characters: countCharacters(conversation),
      maxTokens: conversation.maxTokens,
    },
  );
  return { cost, sandbox: binding.sandbox };
}

function computeCharge(
  { owner, generator, model, conversation }: AccountedChat,
  binding: Binding,
  outcome: ChargedOutcome | null,
): ChatCharge {
  const named = pricedModel(binding, model);
  const cost = costOfChat(
    binding,
    { model: named, options: conversation.options.vendorOptions },
    outcome === null ? null : countUnits(outcome),
  );
  const { provider, sandbox } = binding;
  return { id: newId(), owner, generator, provider: provider.name, model: named, sandbox, cost };
}

function countUnits({ usage, files = [] }: ChargedOutcome): Units {
  return { ...tokenUnits(usage), ...(files.length > 0 && { pictures: files.length }) };
}

/** The model as the price list names it; answers may name a dated version of it. */
function pricedModel(binding: Binding, model: string | null): string | null {
  return model ?? findChatModel(binding, null)?.id ?? binding.connection.model;
}
