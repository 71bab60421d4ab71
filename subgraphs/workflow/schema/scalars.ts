import { dateTimeScalar, jsonScalar } from '../../../platform/graphql/scalars.ts';
import { builder } from './builder.ts';

builder.scalarType('DateTime', dateTimeScalar);
builder.scalarType('JSON', jsonScalar);
