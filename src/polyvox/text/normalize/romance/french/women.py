"""Titles of women in French, those that sound otherwise than a man's."""

from typing import Final

from polyvox.text.normalize.romance.short_forms.titles import WomensTitles

WOMENS_TITLES: Final = WomensTitles(
    titles="""
    Dir. dir.: directrice; Sén.: sénatrice; Prés.: présidente; Amb.: ambassadrice
    """,
    names="""
    Adèle Agathe Agnès Alice Aline Amélie Anaïs Andrée Annie Aurélie Aurore Barbara Béatrice Bénédicte Bernadette
    Brigitte Caroline Catherine Cécile Céline Chantal Charlotte Chloé Christelle Christiane Christine Clara Clémence
    Clémentine Colette Corinne Danielle Delphine Diane Dorothée Élisabeth Elisabeth Élodie Elodie Émilie Emilie Emma
    Emmanuelle Estelle Eva Ève Fabienne Fanny Florence Françoise Gabrielle Geneviève Ginette Gisèle Hélène Inès
    Ingrid Irène Isabelle Jacqueline Jeannine Joëlle Josette Josiane Judith Juliette Justine Karine Laetitia Laura
    Laure Laurence Léa Liliane Lina Louise Lucie Lydie Madeleine Magali Manon Maria Marianne Marine Marion Marlène
    Martine Mathilde Mélanie Michèle Mireille Monique Muriel Myriam Nadège Nadia Nadine Nathalie Nicole Noémie
    Odette Odile Patricia Paulette Pauline Raphaëlle Renée Sabine Sabrina Sandra Sandrine Sara Sarah Simone Solange
    Sonia Sophie Stéphanie Suzanne Sylvie Thérèse Valérie Vanessa Véronique Virginie Viviane Yvette Yvonne Zoé
    """,
    also_surnames="Anne Claire Denise Élise Elise Jeanne Julie Marie Marguerite Rose Victoire",
    before_men="le du au un",
)
