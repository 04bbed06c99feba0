import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["**/node_modules/", "**/.venv/", "**/build/"] },
  js.configs.recommended,
  { files: ["src/polhode/view/web/*.js"], languageOptions: { globals: globals.browser } },
  { files: ["tests/view/web/*.js"], languageOptions: { globals: globals.node } },
];
