"""Titles of women in Italian."""

from typing import Final

from polyvox.text.normalize.romance.short_forms.titles import WomensTitles

WOMENS_TITLES: Final = WomensTitles(
    titles="""
    Avv. avv.: avvocata; Prof. prof. Prof: professoressa; Rag. rag.: ragioniera; Dir.: direttrice; Sen. sen.: senatrice;
    Dep.: deputata; Min.: ministra; Isp.: ispettrice; Cons.: consigliera; Amb.: ambasciatrice;
    Dott. dott. Dr. dr. Dr dr: dottoressa
    """,
    names="""
    Ada Adele Adriana Agnese Alessandra Alessia Alice Amalia Angela Angelica Anita Anna Annalisa Annamaria Antonella
    Antonia Antonietta Arianna Assunta Aurora Barbara Beatrice Benedetta Bianca Bruna Camilla Carla Carlotta Carmela
    Caterina Cecilia Chiara Cinzia Clara Claudia Cristiana Cristina Daniela Debora Deborah Diana Donatella Donata
    Elena Eleonora Elisa Elisabetta Emanuela Emilia Emma Enrica Erica Erika Ester Eva Fabiana Federica Fernanda
    Fiorella Flavia Franca Francesca Gabriella Gaia Giada Gianna Ginevra Giorgia Giovanna Giulia Giuliana Giuseppina
    Grazia Graziella Greta Ida Ilaria Immacolata Irene Irma Isabella Ivana Jessica Katia Laura Lavinia Letizia Licia
    Lidia Liliana Linda Lisa Livia Loredana Lorenza Luana Luciana Lucrezia Ludovica Luigia Luisa Maddalena Manuela
    Mara Marcella Margherita Maria Marianna Mariagrazia Marialuisa Mariella Marilena Marina Marisa Marta Martina
    Matilde Michela Milena Mirella Miriam Monica Nadia Natalia Nicoletta Nicole Noemi Nora Norma Olga Olivia Ornella
    Paola Patrizia Piera Pina Rachele Raffaella Rebecca Renata Rita Roberta Rosalba Rosalia Rosanna Rosaria Rossana
    Rossella Sabina Sabrina Samanta Samantha Sandra Sara Serena Silvana Silvia Simona Sofia Sonia Stefania Susanna
    Tamara Tania Tatiana Teresa Tiziana Valentina Valeria Vanessa Vera Veronica Virginia Vittoria Viviana
    """,
    also_surnames="Alba Costanza Gioia Gloria Lucia Marina Rosa Stella Viola",
    before_men="il del al dal un sul nel",
)
