# SPDX-License-Identifier: Apache-2.0
"""The comparison: one idea per file, standard library only."""
