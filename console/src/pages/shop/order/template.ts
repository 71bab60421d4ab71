import { useQuery } from '@apollo/client/react';

import type { ShopQuery } from '../../../api/documents/operations.ts';
import { ComfyWorkflowsDocument } from '../../../api/documents/studio.ts';
import { minorMoneyText } from '../../../parts/money.ts';
import { t } from '../../../text/text.ts';

/** A template of the catalog. */
export type Template = NonNullable<ShopQuery['templatesConnection']>['edges'][number]['node'];

/** What a template costs, as its buyer reads it. */
export function priceText({ salePrice, creditCost }: Pick<Template, 'salePrice' | 'creditCost'>): string {
  if (salePrice === null) return t('shop.credits', { count: creditCost });
  return salePrice.amount === 0 ? t('shop.free') : minorMoneyText(salePrice.amount, salePrice.currency);
}

const COMFY = 'comfy:';

/** What an execution takes: what the template declares, else the inputs of the ComfyUI workflow that it names. */
export function useParameters({ workflow, parameters }: Pick<Template, 'workflow' | 'parameters'>): unknown {
  const declares = Object.keys(parameters as object).length > 0;
  const isGraph = workflow.startsWith(COMFY);
  const { data } = useQuery(ComfyWorkflowsDocument, { skip: declares || !isGraph });
  if (declares || !isGraph) return parameters;
  return data?.comfyWorkflows.find(({ name }) => name === workflow.slice(COMFY.length))?.inputs ?? {};
}
