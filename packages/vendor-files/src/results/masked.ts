import { containsTin, maskTin, maskTins } from "@vvs/identifiers";
import { isNoIdentifier } from "@vvs/identifiers/none";
import { possibleTins } from "@vvs/identifiers/possible-tins";
import type { Column } from "../columns/columns.ts";
import { type Field, guessField } from "../columns/fields.ts";
import type { VendorRow } from "../read.ts";
import { readIdentifier } from "../vendors/identifier.ts";

type MaskCells = (row: Pick<VendorRow, "cells">) => string[];

/** Returns a function that returns the cells of a row, with those of columns of TINs masked. */
export function maskedCells(columns: readonly Column[]): MaskCells {
  const secret = columns.map(({ name, field }) => field === "tin" || guessField(name)?.field === "tin");
  return ({ cells }) => cells.map((cell, index) => (secret[index] ? maskedCell(cell) : cell));
}

/**
 * Returns a function that returns the cells of a row as they may be stored: in any column, what looks like a TIN is masked; a
 * vendor's number only where the row has it in another column too, not as its DUNS.
 */
export function storableCells(columns: readonly Column[]): MaskCells {
  const masked = maskedCells(columns);
  const fieldOf = (index: number) => columns[index]?.field;
  function isOwnNumber(cells: readonly string[], own: number): boolean {
    if (fieldOf(own) !== "external_id") return false;
    const others = cells.filter((_cell, index) => index !== own && fieldOf(index) !== "duns").flatMap(possibleTins);
    return possibleTins(cells[own]!).every((tin) => !others.includes(tin));
  }
  return (row) =>
    masked(row).map((cell, index) => (isOwnNumber(row.cells, index) ? cell : withoutTins(cell, fieldOf(index))));
}

/** Returns the cell of a TIN with its last four digits, or with none where it is not 9 digits. */
export function maskedCell(cell: string): string {
  if (isNoIdentifier(cell)) return cell;
  const digits = cell.replaceAll(/\D/g, "");
  return digits.length === 9 || /^\*{4}\d{4}$/.test(cell) ? maskTin(digits) : "****";
}

/** Returns a text in which what looks like a TIN is masked. D-U-N-S numbers have 9 digits too, and so have ZIP codes: 12345-6789. */
export function withoutTins(text: string, field?: Field): string {
  const digits = text.match(/\p{N}/gu)?.length ?? 0;
  // Digits can be written as HTML entities.
  if (digits < 9 && !text.includes("&")) return text;
  if (field === "duns" || /^\d{5}-\d{4}$/.test(text.trim())) return text;
  if (field === "zip" && /^\d{9}$/.test(text.trim())) return text;
  const found = readIdentifier("tin", text);
  if (found && "value" in found) return maskTin(found.value);
  if (!containsTin(text)) return text;
  const masked = maskTins(text);
  return containsTin(masked) ? "****" : masked;
}
