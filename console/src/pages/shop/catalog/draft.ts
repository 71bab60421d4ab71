import type { CatalogPartsFragment, TemplateInput, TemplateType } from '../../../api/documents/operations.ts';
import { fractionDigits } from '../../../parts/money.ts';

/** What the form of a template holds, as texts. */
export interface Draft {
  readonly code: string;
  readonly name: string;
  readonly description: string;
  readonly workflow: string;
  readonly templateType: TemplateType;
  readonly imageModel: string;
  readonly imagePrompt: string;
  readonly tags: string;
  readonly version: string;
  readonly creditCost: string;
  /** In major units; empty: the price of its credits. */
  readonly price: string;
  readonly currency: string;
  readonly isActive: boolean;
}

/** The form of a template; of a new one when there is none. */
export function makeDraft(template: CatalogPartsFragment | null): Draft {
  if (template === null) return NEW;
  const { code, name, workflow, templateType, isActive, price, salePrice } = template;
  const currency = template.currency ?? salePrice?.currency ?? 'usd';
  return {
    code,
    name,
    workflow,
    templateType,
    isActive,
    description: template.description ?? '',
    imageModel: template.imageModel ?? '',
    imagePrompt: template.imagePrompt ?? '',
    tags: template.tags.join(', '),
    version: template.version ?? '',
    creditCost: String(template.creditCost),
    price: price === null ? '' : String(price / 10 ** fractionDigits(currency)),
    currency: template.currency ?? '',
  };
}

const NEW: Draft = {
  code: '',
  name: '',
  description: '',
  workflow: 'image',
  templateType: 'IMAGE',
  imageModel: '',
  imagePrompt: '{prompt}',
  tags: '',
  version: '1.0.0',
  creditCost: '1',
  price: '',
  currency: '',
  isActive: true,
};

/** What the API is sent; `usual` is the currency of those that name none. */
export function makeInput(draft: Draft, usual: string): Omit<TemplateInput, 'code'> {
  const { price, creditCost, tags, code: _code, isActive: _isActive, ...texts } = draft;
  const hasPrice = price.trim() !== '';
  const currency = hasPrice ? draft.currency.trim().toLowerCase() : '';
  const unit = 10 ** countDigits(currency === '' ? usual : currency);
  return {
    ...texts,
    name: draft.name.trim(),
    creditCost: Math.round(Number(creditCost)),
    // An empty currency takes an own one back, and the own price too where none is sent.
    currency,
    price: hasPrice ? Math.round(Number(price) * unit) : null,
    tags: tags
      .split(/[,，]/)
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
  };
}

/** A text that is no currency is refused by the server, which names the field. */
function countDigits(currency: string): number {
  return /^[a-z]{3}$/.test(currency) ? fractionDigits(currency) : 2;
}
